import { describe, expect, test } from 'vitest'
import { problemOf } from '../../src/dashboard/api/problem.ts'
import { plural } from '../../src/dashboard/parts/plural.ts'
import { countsInWords, countsOf, timeUntil } from '../../src/dashboard/projects/run-words.ts'
import { summaryOf } from '../../src/dashboard/settings/event-summary.ts'

describe('a number of things', () => {
  test.each([
    [0, '0 entries'],
    [1, '1 entry'],
    [2, '2 entries'],
  ])('is one or many: %d', (count, words) => {
    expect(plural(count, 'entry', 'entries')).toBe(words)
  })

  test('is so in what a sync brought', () => {
    const none = { created: 0, updated: 0, closed: 0, reopened: 0, unchanged: 0 }
    const run = {
      issues: { ...none, created: 1 },
      pullRequests: { ...none, closed: 1, unchanged: 1 },
      createdDone: 1,
    }
    const words = countsInWords(run as never)
    expect(words).toContain('1 issue and 0 pull requests new')
    expect(words).toContain('0 issues and 1 pull request done')
    expect(words).toContain('1 entry unchanged')
    expect(words).toContain('1 of the new ones done already')
    expect(countsOf(run as never)).toBe('+1 (1 done) ~0 1 done')
  })
})

describe('the time a run waits', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z')
  test.each([
    ['2026-01-31T12:00:00.400Z', '1 s'],
    ['2026-01-31T12:00:59.000Z', '59 s'],
    ['2026-01-31T12:12:30.000Z', '12 min 30 s'],
    ['2026-01-31T13:01:00.000Z', '1 h 1 min'],
    ['2026-01-31T12:00:00.000Z', undefined],
    ['2026-01-31T11:59:00.000Z', undefined],
  ])('is counted down, and is never in the past: %s', (at, words) => {
    expect(timeUntil(at, now)).toBe(words)
  })
})

describe('an event of the inbox', () => {
  const event = (properties: object) =>
    summaryOf({ payload: { event: 'feedback_submitted', properties }, uuid: null, outcome: 'accepted' })

  test('is called by what the user wrote, and by how they felt where they wrote nothing', () => {
    expect(event({ sentiment: 'loved', note: 'Nice' })).toBe('loved: Nice')
    expect(event({ sentiment: 'frustrated' })).toBe('frustrated, without a note')
    expect(event({ sentiment: 'meh', note: '' })).toBe('meh, without a note')
    expect(event({})).toBe('feedback_submitted')
  })
})

describe('what went wrong', () => {
  test.each([
    'TypeError: Failed to fetch dynamically imported module: http://127.0.0.1:3000/assets/panel-x.js',
    'TypeError: error loading dynamically imported module',
    'TypeError: Importing a module script failed.',
  ])('is said in words of people where a part could not be loaded: %s', (text) => {
    const { message, code } = problemOf(new TypeError(text.replace('TypeError: ', '')))
    expect(code).toBe('unreachable')
    expect(message).toContain('A part of this page could not be loaded')
    expect(message).not.toMatch(/TypeError|http/)
  })
})
