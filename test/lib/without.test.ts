import { expect, test } from 'vitest'
import { without } from '../../src/lib/without.ts'

test('members are left out of a copy, in the same order', () => {
  const value = { a: 1, b: 2, c: 3 }

  expect(Object.entries(without(value, ['b']))).toEqual([
    ['a', 1],
    ['c', 3],
  ])
  expect(value).toEqual({ a: 1, b: 2, c: 3 })
})
