import { describe, expect, test } from 'vitest'
import { fetchAllPages, itemsOf } from '../../../src/dashboard/api/queries.ts'

describe('fetching all pages', () => {
  test('follows the cursor and keeps the order', async () => {
    const { fetchPage, cursors } = givenPages([1, 2], [3], [4])
    expect(await fetchAllPages(fetchPage)).toEqual([1, 2, 3, 4])
    expect(cursors).toEqual([undefined, '1', '2'])
  })

  test('returns undefined above the limit, after as many requests', async () => {
    const { fetchPage, cursors } = givenPages([1], [2], [3])
    expect(await fetchAllPages(fetchPage, 2)).toBeUndefined()
    expect(cursors).toHaveLength(2)
  })

  test('returns everything when the last page is at the limit', async () => {
    const { fetchPage } = givenPages([1], [2])
    expect(await fetchAllPages(fetchPage, 2)).toEqual([1, 2])
  })
})

test('the items of a query are those of its loaded pages', () => {
  expect(itemsOf(undefined)).toEqual([])
  expect(itemsOf({ pages: [{ data: ['a'] }, { data: [] }, { data: ['b'] }] })).toEqual(['a', 'b'])
})

function givenPages(...pages: number[][]) {
  const cursors: (string | undefined)[] = []
  return {
    cursors,
    async fetchPage(cursor?: string) {
      cursors.push(cursor)
      const index = Number(cursor ?? 0)
      return { data: pages[index] ?? [], nextCursor: index + 1 < pages.length ? `${index + 1}` : null }
    },
  }
}
