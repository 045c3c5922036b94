import { hashOf } from '../secret.ts'

/** How long the same body counts as sent again, if its sender gives no id. Later it is a new event that looks the same. */
export const SAME_BODY_MS = 10 * 60_000

const BODY = 'body:'

/** The deduplication key of a delivery: its sender's id, else its body. */
export const dedupKeyOf = ({ deliveryId, bodyHash }: { deliveryId: string | null; bodyHash: string }) =>
  deliveryId === null ? `${BODY}${bodyHash}` : `id:${hashOf(deliveryId)}`

/** Whether a key is of a body, and so counts only for a while. */
export const isOfBody = (dedupKey: string) => dedupKey.startsWith(BODY)
