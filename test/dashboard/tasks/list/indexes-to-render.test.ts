import { describe, expect, test } from 'vitest'
import { indexesToRender } from '../../../../src/dashboard/tasks/list/indexes-to-render.ts'

const MIDDLE = { count: 1_000, firstIndex: 500, visibleCount: 3, overscan: 2, keptIndex: -1 }

describe('the rows of a scrolling list', () => {
  test('are the visible ones and some around them', () => {
    expect(indexesToRender(MIDDLE)).toEqual([498, 499, 500, 501, 502, 503, 504])
  })

  test('end with the list', () => {
    expect(indexesToRender({ ...MIDDLE, firstIndex: 0 })).toEqual([0, 1, 2, 3, 4])
    expect(indexesToRender({ ...MIDDLE, firstIndex: 997 })).toEqual([995, 996, 997, 998, 999])
    expect(indexesToRender({ ...MIDDLE, firstIndex: 0, count: 2 })).toEqual([0, 1])
    expect(indexesToRender({ ...MIDDLE, firstIndex: 0, count: 0 })).toEqual([])
  })

  test('include the kept row wherever it is', () => {
    expect(indexesToRender({ ...MIDDLE, keptIndex: 7 })).toEqual([7, 498, 499, 500, 501, 502, 503, 504])
    expect(indexesToRender({ ...MIDDLE, keptIndex: 900 })).toEqual([498, 499, 500, 501, 502, 503, 504, 900])
    expect(indexesToRender({ ...MIDDLE, keptIndex: 501 })).toHaveLength(7)
    expect(indexesToRender({ ...MIDDLE, keptIndex: 1_000 })).toHaveLength(7)
  })

  test('are its last ones when the list became shorter than the scroll position', () => {
    expect(indexesToRender({ ...MIDDLE, count: 10 })).toEqual([5, 6, 7, 8, 9])
  })
})
