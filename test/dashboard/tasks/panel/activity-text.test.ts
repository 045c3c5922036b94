import { describe, expect, test } from 'vitest'
import type { Activity } from '../../../../src/dashboard/api/queries.ts'
import { activityText, timeOf } from '../../../../src/dashboard/tasks/panel/activity-text.ts'

describe('the text of an activity', () => {
  test.each([
    [{ title: { from: 'a', to: 'b' } }, 'changed the title'],
    [{ priority: { from: 'low', to: 'high' } }, 'set the priority to high'],
    [{ status: { from: 'open', to: 'in_progress' } }, 'set the status to in progress'],
    [{ status: { from: 'open', to: 'blocked' } }, 'set the status to blocked'],
    [{ closedReason: { from: null, to: 'not_planned' } }, 'set the status to not planned'],
    [{ closedReason: { from: 'not_planned', to: 'completed' } }, 'set the status to done'],
    [{ closedReason: { from: null, to: 'duplicate' } }, 'changed the reason'],
    [{ labels: { from: ['a'], to: ['a', 'b', 'c'] } }, 'added b, c (labels)'],
    [{ labels: { from: ['a'], to: ['b'] } }, 'added b and removed a (labels)'],
    [{ assignees: { from: ['ada'], to: [] } }, 'removed ada (assignees)'],
    [{ blockedBy: { from: [], to: ['1'] } }, 'added 1 task that blocks it'],
    [
      { blockedBy: { from: ['1', '2'], to: ['3', '4'] } },
      'added 2 tasks that block it and removed 2 tasks that blocked it',
    ],
    [{ blockedBy: { from: ['1', '2'], to: ['2', '1'] } }, 'changed the order of the tasks that block it'],
    [{ notes: true }, 'changed the notes'],
    [{ externalUrl: { from: null, to: 'https://example.com' } }, 'changed the external URL'],
    [{ sourceState: { from: 'present', to: 'deleted' } }, 'changed the source state'],
    [
      { title: { from: 'a', to: 'b' }, priority: { from: 'low', to: 'high' } },
      'changed the title, set the priority to high',
    ],
    [{ listId: { from: '1', to: '2' } }, 'moved the task to another list'],
    [{ projectId: { from: '1', to: '2' }, listId: { from: '1', to: '2' } }, 'moved the task to another list'],
    [{ isDraft: { from: true, to: false } }, 'marked it as ready for review'],
    [{ isDraft: { from: false, to: true } }, 'converted it to a draft'],
    [{}, 'edited the task'],
    [undefined, 'edited the task'],
    [null, 'edited the task'],
  ])('names the changed fields: %j', (changes, text) => {
    expect(activityText(activity('task.updated', { metadata: { changes } }))).toBe(text)
  })

  test('says that a task was not planned', () => {
    const metadata = { from: 'open', closedReason: 'not_planned' }
    expect(activityText(activity('task.completed', { metadata }))).toBe('closed the task as not planned')
  })

  test('distinguishes reopened from resumed tasks', () => {
    const opened = activityText(activity('task.reopened', { metadata: { from: 'done', to: 'open' } }))
    const resumed = activityText(activity('task.reopened', { metadata: { from: 'done', to: 'in_progress' } }))
    expect(opened).not.toBe(resumed)
  })

  test('of a sync says what happened at the code host, and when', () => {
    const closedAt = '2019-05-02T10:00:00.000Z'
    const actor = { type: 'codehost' as const, id: null, name: 'acme/app' }
    const closed = {
      ...activity('task.completed', { metadata: { from: 'open', completedAt: closedAt } }),
      actor,
    }
    expect([activityText(closed), timeOf(closed)]).toEqual(['closed the task', closedAt])
    const earlier = { ...closed, metadata: { from: 'open' } }
    expect(timeOf(earlier)).toBe(earlier.createdAt)
    expect(activityText({ ...activity('task.created', { metadata: {} }), actor })).toBe('imported the task')
  })

  test('is the note of the feedback, if it has one', () => {
    expect(activityText(activity('feedback.received', { metadata: {}, message: 'loved: Nice' }))).toBe(
      'loved: Nice',
    )
    expect(activityText(activity('feedback.received', { metadata: {} }))).not.toMatch(
      /null|feedback\.received/,
    )
  })

  test('says whose claim it overrode', () => {
    const overriddenClaim = { number: 3, by: { type: 'assistant', id: null, name: 'claude' } }
    const completed = activity('task.completed', { metadata: { from: 'in_progress', overriddenClaim } })
    expect(activityText(completed)).toBe('marked the task done (overrode the claim of claude)')
  })

  test('says whose comment was deleted', () => {
    const deleted = (author: string) => activityText(activity('comment.deleted', { metadata: { author } }))
    expect([deleted('ci'), deleted('Ada')]).toEqual(['deleted a comment', 'deleted a comment by Ada'])
  })

  test('is the type, as words, and the message of an unknown activity', () => {
    expect(activityText(activity('task.archived', { metadata: {}, message: 'By a rule' }))).toBe(
      'task archived: By a rule',
    )
    expect(activityText(activity('build.step_failed', { metadata: {} }))).toBe('build step failed')
  })
})

function activity(
  type: string,
  { metadata, message = null }: { metadata: object; message?: string | null },
): Activity {
  const actor = { type: 'key', id: null, name: 'ci' }
  return { type, message, metadata, actor, createdAt: '2026-01-01T00:00:00.000Z' } as Activity
}
