import type { FieldError } from '../../errors/index.ts'
import { MAX_PAYLOAD_BYTES, payloadOf, readJson } from '../delivery-body.ts'
import { dedupKeyOf, type FeedbackEvent, readEvent } from './event.ts'
import { type RoutingFields, routingFieldsOf } from './routing.ts'
import { type FeedbackTask, feedbackTask } from './task.ts'

/** What is stored of a delivery's original payload. */
interface StoredPayload {
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
  | { outcome: 'accepted'; event: ReadEvent; stored: StoredPayload }
  | { outcome: 'rejected'; uuid: string | null; errors: FieldError[]; stored: StoredPayload }
  | { outcome: 'ignored'; uuid: string | null }
  | { outcome: 'unreadable'; readUpTo: number }

/** All processing whose time depends on the delivery's size. */
export function readDelivery(bytes: Uint8Array): DeliveryReading {
  const read = readJson(bytes)
  if (!read.isJson) return { outcome: 'unreadable', readUpTo: read.readUpTo }
  const reading = readEvent(read.body)
  if (reading.outcome === 'ignored') return reading
  const stored = payloadOf(read.body, MAX_PAYLOAD_BYTES)
  if (reading.outcome === 'rejected') return { ...reading, stored }
  return { outcome: 'accepted', event: readAccepted(reading.event), stored }
}

export const readAccepted = (event: FeedbackEvent): ReadEvent => ({
  uuid: event.uuid,
  dedupKey: dedupKeyOf(event),
  fields: routingFieldsOf(event.properties),
  task: feedbackTask(event),
})
