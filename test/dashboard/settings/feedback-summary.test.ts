import { describe, expect, test } from 'vitest'
import { summaryOf } from '../../../src/dashboard/settings/feedback-summary.ts'

describe('a delivery of feedback', () => {
  const event = (properties: object) =>
    summaryOf({ senderId: null, outcome: 'accepted' }, { event: 'feedback_submitted', properties })

  test('is named by note and sentiment, or by its type', () => {
    expect(event({ sentiment: 'loved', note: 'Nice' })).toBe('loved: Nice')
    expect(event({ sentiment: 'frustrated' })).toBe('frustrated, no note')
    expect(event({ sentiment: 'meh', note: '' })).toBe('meh, no note')
    expect(event({})).toBe('feedback_submitted')
  })
})
