import { describe, expect, test } from 'vitest'
import { fullCounts, shortCounts, timeUntil } from '../../../src/dashboard/projects/sync-run-text.ts'

describe('the counts of a sync run', () => {
  test('use singular and plural', () => {
    const none = { created: 0, updated: 0, closed: 0, reopened: 0, unchanged: 0 }
    const run = {
      issues: { ...none, created: 1 },
      pullRequests: { ...none, closed: 1, unchanged: 1 },
      createdDone: 1,
      comments: { created: 1, updated: 0, deleted: 2 },
    }
    const words = fullCounts(run as never)
    expect(words).toContain('1 issue and 0 pull requests new')
    expect(words).toContain('0 issues and 1 pull request done')
    expect(words).toContain('1 item unchanged')
    expect(words).toContain('1 comment new, 0 edited, 2 deleted')
    expect(words).toContain('1 of the new ones already done')
    expect(shortCounts(run as never)).toBe('+1 (1 done), 1 done')
  })
})

describe('the remaining time of a waiting run', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z')
  test.each([
    ['2026-01-31T12:00:00.400Z', '1 s'],
    ['2026-01-31T12:00:59.000Z', '59 s'],
    ['2026-01-31T12:12:30.000Z', '12 min 30 s'],
    ['2026-01-31T13:01:00.000Z', '1 h 1 min'],
    ['2026-01-31T12:00:00.000Z', undefined],
    ['2026-01-31T11:59:00.000Z', undefined],
  ])('is never negative: %s', (time, words) => {
    expect(timeUntil(time, now)).toBe(words)
  })
})
