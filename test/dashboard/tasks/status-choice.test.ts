import { describe, expect, test } from 'vitest'
import {
  changeToChoice,
  decided,
  effectOf,
  STATUS_CHOICES,
  statusChoiceOf,
} from '../../../src/dashboard/tasks/status-choice.ts'

const OPEN = { status: 'open', closedReason: null } as const
const DONE = { status: 'done', closedReason: null } as const
const NOT_PLANNED = { status: 'done', closedReason: 'not_planned' } as const

describe('the choice of a status', () => {
  test('has "Not planned" beside "Done"', () => {
    expect(Object.values(STATUS_CHOICES)).toEqual(['Open', 'In progress', 'Done', 'Not planned'])
  })

  test('is not planned for tasks that are done for that reason', () => {
    const merged = { status: 'done', closedReason: 'merged' } as const
    // While a task is opened, its reason may still be there.
    const opened = { status: 'open', closedReason: 'not_planned' } as const
    expect([OPEN, DONE, NOT_PLANNED, merged, opened].map(statusChoiceOf)).toEqual([
      'open',
      'done',
      'not_planned',
      'done',
      'open',
    ])
  })

  test('is sent as the status done with a reason', () => {
    expect(changeToChoice('not_planned', [OPEN, DONE])).toEqual(NOT_PLANNED)
    expect(changeToChoice('open', [NOT_PLANNED])).toEqual({ status: 'open' })
    expect(changeToChoice('done', [OPEN, DONE])).toEqual({ status: 'done' })
  })

  test('of done gives tasks that were not planned another reason', () => {
    expect(changeToChoice('done', [OPEN, NOT_PLANNED])).toEqual({ status: 'done', closedReason: 'completed' })
  })

  test('takes the reason from tasks that it opens', () => {
    expect(effectOf({ status: 'in_progress' })).toMatchObject({ status: 'in_progress', closedReason: null })
  })
})

describe('the effect of a change', () => {
  test.each([
    { status: 'in_progress' },
    { priority: 'low' },
    { listId: 'a' },
    { labels: [] },
    { assignees: ['ada'] },
  ] as const)('of %j is that the task is triaged', (change) => {
    expect(effectOf(change as never)).toMatchObject({ ...change, triaged: true })
    expect(effectOf({ ...change, triaged: false } as never)).toMatchObject({ triaged: false })
  })

  test('ends the snooze and the question of a task that is done', () => {
    expect(effectOf({ status: 'done' })).toEqual({
      status: 'done',
      triaged: true,
      snoozedUntil: null,
      question: null,
    })
  })

  test('of what decides nothing is the change itself', () => {
    expect(effectOf({ title: 'Export fails' })).toEqual({ title: 'Export fails' })
    const snoozedUntil = '2026-12-01T09:00:00.000Z'
    expect(effectOf({ snoozedUntil })).toEqual({ snoozedUntil })
  })
})

describe('a decision about a task that is to be triaged', () => {
  test('is sent as one: what the task has already is decided, too', () => {
    expect(decided({ priority: 'high' }, { triaged: false })).toEqual({ priority: 'high', triaged: true })
    expect(decided({ priority: 'high' }, { triaged: true })).toEqual({ priority: 'high' })
    expect(decided({ priority: 'high', triaged: false }, { triaged: false })).toEqual({
      priority: 'high',
      triaged: false,
    })
    expect(decided({ title: 'Export fails' }, { triaged: false })).toEqual({ title: 'Export fails' })
  })
})
