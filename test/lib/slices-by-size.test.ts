import { expect, test } from 'vitest'
import { slicesBySize } from '../../src/lib/slices-by-size.ts'

test.each([
  ['fills each slice up to the limit', [3, 3, 4, 1], [[3, 3, 4], [1]]],
  ['gives a larger item a slice of its own', [1, 11, 1], [[1], [11], [1]]],
  ['puts items of no size into one slice', [0, 0, 0], [[0, 0, 0]]],
  ['makes one empty slice of nothing', [], [[]]],
])('%s', (_, sizes, slices) => {
  expect([...slicesBySize(sizes, { maxSize: 10, sizeOf: (size) => size })]).toEqual(slices)
})
