import { describe, expect, test } from 'vitest'
import { deliveryReason, deliveryTitle } from '../../../src/dashboard/settings/delivery-text.ts'

describe('a delivery of the code host', () => {
  test.each([
    ['issues', 'closed', 12, 'Issue #12 closed'],
    ['pull_request', 'ready_for_review', 3, 'Pull request #3 ready for review'],
    ['issue_comment', 'created', 3, 'Comment on #3 created'],
    ['repository', 'renamed', null, 'Repository renamed'],
    ['ping', null, null, 'Webhook test'],
    ['push', null, null, 'push'],
  ])('%s %s is titled by what it reports', (event, action, number, title) => {
    expect(deliveryTitle({ event, action, number })).toBe(title)
  })

  test('says why it changed nothing, and how often it was tried', () => {
    expect(deliveryReason({ reason: null, status: 'applied', attempts: 0 })).toBeUndefined()
    expect(deliveryReason({ reason: 'outdated', status: 'applied', attempts: 0 })).toBe(
      'something newer was stored',
    )
    expect(deliveryReason({ reason: 'rate_limited', status: 'received', attempts: 2 })).toBe(
      'the code host limits requests, tried 2 times',
    )
  })
})
