import type { FieldError } from '../../errors/index.ts'
import { payloadOf, readBody } from './body.ts'
import { dedupKeyOf, type FeedbackEvent, readEvent } from './event.ts'
import { type RoutingFields, routingFieldsOf } from './routing.ts'
import { type FeedbackTask, feedbackTask } from './task.ts'

/** Maximum size of a stored payload. */
const PAYLOAD_BYTES = 262_144

/** What the inbox stores of a delivery's original payload. */
interface KeptPayload {
  payload: string
  payloadCut: boolean
}

/** Everything derived from a delivery before routing. Small, whatever the size of the event. */
export interface ReadEvent {
  uuid: string | null
  dedupKey: string
  fields: RoutingFields
  task: FeedbackTask
}

export type DeliveryReading =
  | { outcome: 'accepted'; event: ReadEvent; kept: KeptPayload }
  | { outcome: 'rejected'; uuid: string | null; errors: FieldError[]; kept: KeptPayload }
  | { outcome: 'ignored'; uuid: string | null }
  | { outcome: 'unreadable'; readUpTo: number }

/** All processing whose time depends on the delivery's size, in one call, so that it can run in any thread. */
export function readDelivery(bytes: Uint8Array): DeliveryReading {
  const read = readBody(bytes)
  if (!read.isJson) return { outcome: 'unreadable', readUpTo: read.readUpTo }
  const reading = readEvent(read.body)
  if (reading.outcome === 'ignored') return reading
  const kept = payloadOf(read.body, PAYLOAD_BYTES)
  if (reading.outcome === 'rejected') return { ...reading, kept }
  return { outcome: 'accepted', event: readAccepted(reading.event), kept }
}

export const readAccepted = (event: FeedbackEvent): ReadEvent => ({
  uuid: event.uuid,
  dedupKey: dedupKeyOf(event),
  fields: routingFieldsOf(event.properties),
  task: feedbackTask(event),
})
