import { hashOf } from '../secret.ts'
import { shortId } from './short-id.ts'

/** How long the same body counts as sent again, if its sender gives no id. Later it is a new event that looks the same. */
export const SAME_BODY_MS = 10 * 60_000

const BODY = 'body:'

/** What tells a delivery from others. */
export interface DeliveryIdentity {
  /** The sender's, as the inbox stores it. */
  deliveryId: string | null
  /** Of the payload. */
  bodyHash: string
}

/** The sender's id as the inbox stores it, so that a replay recognizes what is sent again. */
export const storedDeliveryId = (id: string | null): string | null => (id === null ? null : shortId(id))

/** The deduplication key of a delivery: its sender's id, else its body. */
export const dedupKeyOf = ({ deliveryId, bodyHash }: DeliveryIdentity) =>
  deliveryId === null ? `${BODY}${bodyHash}` : `id:${hashOf(deliveryId)}`

/** Whether a key is of a body, and so counts only for a while. */
export const isOfBody = (dedupKey: string) => dedupKey.startsWith(BODY)

/** Whether two deliveries with this key are one that was sent twice. */
export const isSentTwice = (dedupKey: string, times: [Date, Date]) =>
  !isOfBody(dedupKey) || Math.abs(times[0].getTime() - times[1].getTime()) <= SAME_BODY_MS
