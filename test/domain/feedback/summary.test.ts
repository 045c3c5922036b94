import { expect, test } from 'vitest'
import { feedbackSummary } from '../../../src/domain/feedback/summary.ts'

const NONE = { name: 'feedback_submitted', sentiment: null, note: null }

test('feedback is summed up by sentiment and note, or by the name of its event', () => {
  expect(feedbackSummary({ ...NONE, sentiment: 'loved', note: 'Nice' })).toBe('Loved: Nice')
  expect(feedbackSummary({ ...NONE, note: ' One\n\ntwo ' })).toBe('One two')
  expect(feedbackSummary({ ...NONE, sentiment: 'meh', note: ' ' })).toBe('Meh, no note')
  expect(feedbackSummary(NONE)).toBe('feedback_submitted')
  expect(feedbackSummary({ ...NONE, name: null })).toBeNull()
})

test('a long note is cut between characters', () => {
  const summary = feedbackSummary({ ...NONE, note: '🔥'.repeat(200) }) ?? ''
  expect(summary).toBe(`${'🔥'.repeat(140)}…`)
})
