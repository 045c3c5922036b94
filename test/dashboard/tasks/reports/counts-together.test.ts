import { expect, test } from 'vitest'
import { countsTogether } from '../../../../src/dashboard/tasks/reports/counts-together.ts'

const of = (names: string[], firstOpenedAt: string | null, lastOpenedAt = firstOpenedAt) => ({
  sentiments: [],
  appVersions: names.map((name, index) => ({ name, count: index + 1 })),
  firstOpenedAt,
  lastOpenedAt,
})

test('the counts of several tasks add up, most frequent first, from the first to the last time', () => {
  const day = (number: number) => `2026-06-0${number}T10:00:00.000Z`
  const each = [of(['b', 'a'], day(3), day(4)), undefined, of(['c', 'b'], day(2)), of([], null)]
  expect(countsTogether(each)).toEqual({
    sentiments: [],
    appVersions: [
      { name: 'b', count: 3 },
      { name: 'a', count: 2 },
      { name: 'c', count: 1 },
    ],
    firstOpenedAt: day(2),
    lastOpenedAt: day(4),
  })
  expect(countsTogether([undefined])).toEqual(of([], null))
})
