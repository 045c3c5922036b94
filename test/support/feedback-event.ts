import { readJson } from '../../src/domain/delivery-body.ts'
import { type FeedbackEvent, readEvent } from '../../src/domain/feedback/event.ts'

/** The properties that an event must have. */
export const REQUIRED = { sentiment: 'frustrated', trigger: 'manual', app_version: '2.3.1' }
export const FLAT = {
  event: 'feedback_submitted',
  distinct_id: 'user-1',
  timestamp: '2026-11-21T08:15:30.000Z',
  properties: REQUIRED,
}

/** How the receiver reads a body. */
export function read(body: unknown) {
  const parsed = readJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
  if (!parsed.isJson) throw new Error('The test sends what is no JSON.')
  return readEvent(parsed.body)
}

export function eventWith(properties: Record<string, unknown>, others: object = {}): FeedbackEvent {
  const reading = read({ ...FLAT, ...others, properties: { ...REQUIRED, ...properties } })
  if (reading.outcome !== 'accepted') throw new Error('The test sends what is refused.')
  return reading.event
}
