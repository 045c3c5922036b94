import { describe, expect, test } from 'vitest'
import { deliveryReason, deliveryTitle } from '../../../src/dashboard/settings/delivery-text.ts'

describe('a delivery of the code host', () => {
  test.each([
    ['issues.closed', { issue: { number: 12 } }, 'Issue #12 closed'],
    ['pull_request.ready_for_review', { pull_request: { number: 3 } }, 'Pull request #3 ready for review'],
    ['issue_comment.created', { issue: { number: 3 }, comment: {} }, 'Comment on #3 created'],
    ['repository.renamed', {}, 'Repository renamed'],
    ['ping', null, 'Webhook test'],
    ['push', null, 'push'],
    ['issues.closed', '{"issue":{"num', 'Issue closed'],
  ])('%s is titled by what it reports', (event, payload, title) => {
    expect(deliveryTitle({ event }, payload)).toBe(title)
  })

  test('says why it changed nothing, and how often it was tried', () => {
    expect(deliveryReason({ reason: null, outcome: 'updated', attempts: 0 })).toBeUndefined()
    expect(deliveryReason({ reason: 'outdated', outcome: 'updated', attempts: 0 })).toBe(
      'something newer was stored',
    )
    expect(deliveryReason({ reason: 'rate_limited', outcome: 'pending', attempts: 2 })).toBe(
      'the code host limits requests, tried 2 times',
    )
  })
})
