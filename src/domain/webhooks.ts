import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { keyOf } from './sources/signature.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long a webhook waits after each failed attempt in a row, as the specification of Standard Webhooks suggests. */
const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** The wait before the next attempt, after so many failed ones before this. Undefined if this was the last. */
export const retryDelayMs = (failuresBefore: number): number | undefined => RETRY_DELAYS_MS[failuresBefore]

/** Which changes a webhook is for. */
export interface WebhookFilter {
  /** Empty for all. */
  types: string[]
  /** Null for all. */
  projectId: string | null
  /** Positions after which it was switched off, up to which it was. Null: it still is. */
  pauses: [number, number | null][]
}

export const isRelevant = (
  { types, projectId, pauses }: WebhookFilter,
  change: { type: string; projectId: string | null; position: number },
): boolean =>
  (types.length === 0 || types.includes(change.type)) &&
  (projectId === null || projectId === change.projectId) &&
  !pauses.some(([after, upTo]) => change.position > after && (upTo === null || change.position <= upTo))

/** A secret, ready to sign with: signing with its bytes takes five times as long. */
export const signingKeyOf = (secret: string): KeyObject => createSecretKey(keyOf(secret))

/** The headers of Standard Webhooks 1.0: a signature of each valid secret. */
export function signatureHeaders(
  body: string,
  { id, now, keys }: { id: string; now: Date; keys: KeyObject[] },
): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000)
  const signed = `${id}.${timestamp}.${body}`
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signatures.join(' '),
  }
}
