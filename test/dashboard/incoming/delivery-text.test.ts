import { describe, expect, test } from 'vitest'
import { type Delivery, titleOf } from '../../../src/dashboard/incoming/delivery-text.ts'
import { explanationOf } from '../../../src/dashboard/incoming/explanation.ts'

const PROJECT = '0197a000-0000-7000-8000-000000000001'
const SOURCE = '0197a000-0000-7000-8000-000000000002'

function delivery(given: Partial<Delivery>): Delivery {
  const none = { sourceId: null, projectId: PROJECT, senderId: null, event: null, reason: null }
  const payload = { title: null, number: null, hasPayload: true }
  const counts = { duplicates: 0, attempts: 0, tasks: [], routing: null, errors: null }
  const received = { id: PROJECT, receivedAt: '2026-11-28T08:00:00.000Z' }
  return { ...none, ...payload, ...counts, ...received, receiver: 'codehost', outcome: 'accepted', ...given }
}

describe('a delivery of the code host', () => {
  test.each([
    ['issues.closed', 12, 'Issue #12 closed'],
    ['pull_request.ready_for_review', 3, 'Pull request #3 ready for review'],
    ['issue_comment.created', 3, 'Comment on #3 created'],
    ['repository.renamed', null, 'Repository renamed'],
    ['ping', null, 'Webhook test'],
    ['push', null, 'push'],
    ['issues.closed', null, 'Issue closed'],
  ])('%s is titled by what it reports', (event, number, title) => {
    expect(titleOf(delivery({ event, number }))).toBe(title)
  })

  test('says why it changed nothing, how often it was tried, and what to do', () => {
    expect(explanationOf(delivery({}))).toBeUndefined()
    expect(explanationOf(delivery({ outcome: 'updated', reason: 'outdated' }))).toEqual({
      reason: 'Something newer was stored.',
    })
    expect(explanationOf(delivery({ outcome: 'pending', reason: 'rate_limited', attempts: 2 }))?.reason).toBe(
      'The code host limits requests, tried 2 times. It is tried again by itself.',
    )
    const refused = { outcome: 'failed', reason: 'codehost_token_rejected', attempts: 1 } as const
    expect(explanationOf(delivery(refused))).toEqual({
      reason: 'The code host rejected the token, tried once.',
      advice: 'Correct the connection, then replay it.',
      action: { label: 'Renew token', to: `/projects/${PROJECT}`, search: { edit: 'connection' } },
    })
    expect(explanationOf(delivery({ outcome: 'failed', reason: 'never_heard_of' }))).toEqual({
      reason: 'never_heard_of.',
      advice: 'Replay it.',
    })
  })
})

test('a delivery of feedback is titled by what it says, or else by what is known of it', () => {
  const feedback = { receiver: 'feedback', title: 'meh: Nice', senderId: 'sent-1' } as const
  expect(titleOf(delivery(feedback))).toBe('meh: Nice')
  expect(titleOf(delivery({ ...feedback, title: null }))).toBe('sent-1')
  const unnamed = { ...feedback, title: null, senderId: null }
  expect(titleOf(delivery({ ...unnamed, outcome: 'ignored' }))).toBe('Another event')
})

describe('a delivery that makes no task', () => {
  test('leads to the source that reads it, if one does', () => {
    const action = { label: 'Open source', to: '/settings/sources', search: { source: SOURCE } }
    for (const outcome of ['rejected', 'filtered'] as const) {
      expect(explanationOf(delivery({ receiver: 'source', sourceId: SOURCE, outcome }))).toMatchObject({
        action,
      })
    }
    expect(explanationOf(delivery({ receiver: 'feedback', outcome: 'rejected' }))).toEqual({
      reason: 'The event is not valid feedback.',
      advice: 'Correct it at the sender, or make a source that reads it.',
    })
    expect(explanationOf(delivery({ receiver: 'feedback', outcome: 'ignored' }))?.reason).toMatch(/Only/)
  })
})
