import { describe, expect, test } from 'vitest'
import { byReports, countsText, mergeOf } from '../../../../src/dashboard/tasks/reports/merging.ts'

const [older, newer] = [
  { id: 'a', reports: 1 },
  { id: 'b', reports: 1 },
]

describe('of two tasks', () => {
  test('the newer one becomes a report', () => {
    expect(mergeOf(older, newer)).toEqual({ report: newer, target: older })
    expect(mergeOf(newer, older)).toEqual({ report: newer, target: older })
  })

  test('the one without reports becomes a report', () => {
    const target = { ...newer, reports: 3 }
    expect(mergeOf(older, target)).toEqual({ report: older, target })
    expect(mergeOf(target, older)).toEqual({ report: older, target })
  })

  test('none becomes a report if both have reports', () => {
    expect(mergeOf({ ...older, reports: 2 }, { ...newer, reports: 3 })).toBeUndefined()
  })
})

test('tasks are ordered as targets: by reports, then by age', () => {
  const reported = { id: 'c', reports: 2 }
  expect([newer, reported, older].toSorted(byReports)).toEqual([reported, older, newer])
})

test('counts are a line, which names the most frequent values', () => {
  const counts = (...numbers: number[]) => numbers.map((count, index) => ({ name: `1.${index}`, count }))
  expect(countsText([])).toBe('')
  expect(
    countsText([
      { name: 'frustrated', count: 1_200 },
      { name: 'meh', count: 1 },
    ]),
  ).toBe('1,200 frustrated, 1 meh')
  expect(countsText(counts(9, 8, 7, 6, 5, 4, 3, 2), 'with ')).toBe(
    '9 with 1.0, 8 with 1.1, 7 with 1.2, 6 with 1.3, 5 with 1.4, 4 with 1.5, 5 with others',
  )
})
