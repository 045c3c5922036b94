import { describe, expect, test } from 'vitest'
import {
  changeToChoice,
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
    expect(effectOf({ status: 'in_progress' })).toEqual({ status: 'in_progress', closedReason: null })
    expect(effectOf({ status: 'done' })).toEqual({ status: 'done' })
    expect(effectOf({ priority: 'low' })).toEqual({ priority: 'low' })
  })
})
