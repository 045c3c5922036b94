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

test('values are counted, most frequent first', () => {
  expect(countsText(['meh', 'frustrated', undefined, 'frustrated', 5, ''])).toBe('2 frustrated, 1 meh')
  expect(countsText([undefined])).toBe('')
})
