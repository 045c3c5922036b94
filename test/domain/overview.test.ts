import { describe, expect, test } from 'vitest'
import { lastWeeks, quantilesOf } from '../../src/domain/overview.ts'

describe('the last weeks', () => {
  test.each([
    ['2026-11-23T00:00:00.000Z', 2, ['2026-11-16', '2026-11-23']],
    ['2026-11-22T23:59:59.999Z', 2, ['2026-11-09', '2026-11-16']],
    ['2027-01-01T12:00:00.000Z', 2, ['2026-12-21', '2026-12-28']],
    ['2024-03-01T12:00:00.000Z', 1, ['2024-02-26']],
    // Clocks change in Europe on this day, and in America three weeks before.
    ['2026-03-29T23:30:00.000Z', 4, ['2026-03-02', '2026-03-09', '2026-03-16', '2026-03-23']],
  ])('at %s begin on Monday, in UTC', (now, count, weeks) => {
    expect(lastWeeks(new Date(now), count)).toEqual(weeks)
  })

  test('may be those of ten years', () => {
    const weeks = lastWeeks(new Date('2026-11-28T00:00:00.000Z'), 520)

    expect(new Set(weeks).size).toBe(520)
    expect(weeks[0]).toBe('2016-12-12')
  })
})

describe('quantiles', () => {
  const SHARES = { median: 0.5, p90: 0.9 }

  test.each([
    [[], undefined],
    [[[3, 1]], { median: 3, p90: 3 }],
    [
      [
        [0, 1],
        [9, 1],
      ],
      { median: 0, p90: 9 },
    ],
    [
      [
        [1, 9],
        [100, 1],
      ],
      { median: 1, p90: 1 },
    ],
    [
      [
        [1, 5],
        [2, 3],
        [100, 2],
      ],
      { median: 1, p90: 100 },
    ],
  ] as [number[][], object | undefined][])('of %j are values that occur', (rows, expected) => {
    const counts = rows.map(([days = 0, count = 0]) => ({ days, count }))

    expect(quantilesOf(counts, SHARES)).toEqual(expected)
  })
})
