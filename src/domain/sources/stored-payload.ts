import { MAX_PAYLOAD_BYTES, payloadOf, readJson } from '../delivery-body.ts'
import type { SourceReading } from './reading.ts'

/** What is stored of a payload. */
export interface StoredPayload {
  payload: string | null
  payloadCut: boolean
}

export const storedBody = (body: unknown): StoredPayload => payloadOf(body, MAX_PAYLOAD_BYTES)

/** The reading of a delivery whose templates did not end. Parses only what is stored whole. */
export function failedReading(bytes: Uint8Array, message: string): SourceReading {
  const errors = [{ path: '/template', code: 'template_failed', message }]
  return { outcome: 'rejected', errors, isTooSlow: true, stored: storedUnread(bytes) }
}

/** What is stored of a delivery that is not read yet. */
export function storedUnread(bytes: Uint8Array): StoredPayload {
  const body = bytes.length <= MAX_PAYLOAD_BYTES ? readJson(bytes) : undefined
  if (body?.isJson) return storedBody(body.body)
  const start = Buffer.from(bytes).subarray(0, MAX_PAYLOAD_BYTES).toString()
  return { payload: start.replaceAll('\0', '').toWellFormed(), payloadCut: true }
}
