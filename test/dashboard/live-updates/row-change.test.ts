import { describe, expect, test } from 'vitest'
import { rowChangeOf } from '../../../src/dashboard/live-updates/row-change.ts'

describe('the change of a row', () => {
  test('has the new values that an activity names, but no long texts', () => {
    const changes = {
      title: { from: 'old', to: 'new' },
      priority: { from: 'low', to: 'high' },
      labels: { from: [], to: ['bug'] },
      description: 'changed',
    }
    expect(rowChangeOf({ type: 'task.updated', metadata: { changes } })).toEqual({
      title: 'new',
      priority: 'high',
      labels: ['bug'],
    })
  })

  test.for([
    [{ type: 'task.completed', metadata: { from: 'open' } }, { status: 'done' }],
    [
      { type: 'task.completed', metadata: { from: 'open', closedReason: 'not_planned' } },
      { status: 'done', closedReason: 'not_planned' },
    ],
    [
      { type: 'task.reopened', metadata: { to: 'in_progress' } },
      { status: 'in_progress', closedReason: null },
    ],
    [{ type: 'task.claimed', metadata: { number: 3 } }, { status: 'in_progress' }],
    [
      { type: 'task.claim_released', metadata: { number: 3 } },
      { status: 'open', claim: null },
    ],
    [
      { type: 'task.claim_expired', metadata: { number: 3 } },
      { status: 'open', claim: null },
    ],
    [{ type: 'comment.created', metadata: { commentCount: 3 } }, { commentCount: 3 }],
    [{ type: 'comment.deleted', metadata: { commentCount: 0 } }, { commentCount: 0 }],
    [{ type: 'comment.updated', metadata: {} }, {}],
    [{ type: 'task.updated', metadata: {} }, {}],
    [{ type: 'task.created', metadata: { changes: { title: { to: 'x' } } } }, {}],
  ] as const)('follows from the type: %j', ([activity, change]) => {
    expect(rowChangeOf(activity)).toEqual(change)
  })
})
