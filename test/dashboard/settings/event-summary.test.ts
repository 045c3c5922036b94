import { describe, expect, test } from 'vitest'
import { summaryOf } from '../../../src/dashboard/settings/event-summary.ts'

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
