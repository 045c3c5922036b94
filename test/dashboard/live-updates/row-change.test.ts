import { describe, expect, test } from 'vitest'
import { rowChangeOf } from '../../../src/dashboard/live-updates/row-change.ts'
import type { Actor } from '../../../src/schemas/task.ts'

const DONE = { status: 'done', triaged: true, snoozedUntil: null, question: null }
const by = (type: Actor['type']): Actor => ({ type, id: null, name: 'Somebody' })

describe('the change of a row', () => {
  test('has the new values that an activity names, but no long texts', () => {
    const changes = {
      title: { from: 'old', to: 'new' },
      priority: { from: 'low', to: 'high' },
      labels: { from: [], to: ['bug'] },
      description: 'changed',
    }
    expect(rowChangeOf({ type: 'task.updated', actor: by('codehost'), metadata: { changes } })).toEqual({
      title: 'new',
      priority: 'high',
      labels: ['bug'],
    })
  })

  test.for([
    [{ type: 'task.completed', metadata: { from: 'open' } }, DONE],
    [
      { type: 'task.completed', metadata: { from: 'open', closedReason: 'not_planned' } },
      { ...DONE, closedReason: 'not_planned' },
    ],
    [
      { type: 'task.reopened', metadata: { to: 'in_progress' } },
      { status: 'in_progress', closedReason: null },
    ],
    [
      { type: 'task.claimed', metadata: { number: 3 } },
      { status: 'in_progress', triaged: true },
    ],
    [
      { type: 'task.merged', metadata: { into: 'b', from: 'open' } },
      { ...DONE, mergedInto: 'b' },
    ],
    [
      { type: 'task.woken', metadata: { triaged: false } },
      { triaged: false, snoozedUntil: null },
    ],
    [
      { type: 'task.woken', metadata: { triaged: true } },
      { triaged: true, snoozedUntil: null },
    ],
    [
      { type: 'task.claim_released', metadata: { number: 3 } },
      { status: 'open', claim: null },
    ],
    [
      { type: 'task.claim_expired', metadata: { number: 3 } },
      { status: 'open', claim: null },
    ],
    [
      { type: 'comment.created', metadata: { commentCount: 3 } },
      { commentCount: 3, triaged: true },
    ],
    [{ type: 'comment.deleted', metadata: { commentCount: 0 } }, { commentCount: 0 }],
    [{ type: 'comment.updated', metadata: {} }, {}],
    [{ type: 'task.updated', metadata: {} }, {}],
    [{ type: 'task.created', metadata: { changes: { title: { to: 'x' } } } }, {}],
  ] as const)('follows from the type: %j', ([activity, change]) => {
    expect(rowChangeOf({ ...activity, actor: by('key') })).toEqual(change)
  })

  test.for([
    [{ priority: { from: 'low', to: 'high' } }, { priority: 'high', triaged: true }],
    [{ labels: { from: [], to: ['bug'] } }, { labels: ['bug'], triaged: true }],
    [{ title: { from: 'a', to: 'b' } }, { title: 'b' }],
    [
      { snoozedUntil: { from: null, to: '2100-01-01T00:00:00.000Z' } },
      { snoozedUntil: '2100-01-01T00:00:00.000Z' },
    ],
    [{ triaged: { from: false, to: true } }, { triaged: true }],
    [
      { priority: { from: 'high', to: 'low' }, triaged: { from: true, to: false } },
      { priority: 'low', triaged: false },
    ],
  ] as const)('says what somebody decided by changing %j', ([changes, change]) => {
    for (const type of ['user', 'session', 'assistant'] as const)
      expect(rowChangeOf({ type: 'task.updated', actor: by(type), metadata: { changes } })).toEqual(change)
  })

  test('says nothing of a decision where nobody decided, or it is not known', () => {
    const changes = { labels: { from: [], to: ['bug'] } }
    for (const type of ['codehost', 'system', 'analytics', 'key'] as const)
      expect(rowChangeOf({ type: 'task.updated', actor: by(type), metadata: { changes } })).toEqual({
        labels: ['bug'],
      })
    const comment = { type: 'comment.created', actor: by('codehost'), metadata: { commentCount: 2 } }
    expect(rowChangeOf(comment)).toEqual({ commentCount: 2 })
  })
})
