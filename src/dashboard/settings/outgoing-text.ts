import type { OutgoingDelivery, Webhook } from './outgoing-queries.ts'

/** Why Inlet switched a webhook off, and what to do. Undefined if it did not. */
export function disabledText({ disabledReason }: Pick<Webhook, 'disabledReason'>): string | undefined {
  return disabledReason === null ? undefined : DISABLED[disabledReason]
}

const DISABLED: Record<NonNullable<Webhook['disabledReason']>, string> = {
  failed:
    'Turned off because every attempt of the last three days failed. Deliveries are kept. Fix the receiver, send a test, then turn the webhook on.',
  gone: 'Turned off because the receiver responded with 410 Gone. Deliveries are kept. Change the URL, then turn the webhook on.',
  imported: 'Turned off because it was imported. Rotate its secret, then turn the webhook on.',
  restored:
    'Turned off because the database was restored from a backup, and the original may still be sending. Turn it on if it is not.',
}

/** What happened to a delivery: `HTTP 500 in 12 ms, tried 3 times`. */
export function attemptText({
  responseStatus,
  error,
  durationMs,
  attempts,
}: Pick<OutgoingDelivery, 'responseStatus' | 'error' | 'durationMs' | 'attempts'>): string | undefined {
  if (attempts === 0) return undefined
  const result = responseStatus === null ? error?.replace(/\.$/, '') : `HTTP ${responseStatus}`
  const duration = durationMs === null ? '' : ` in ${durationMs.toLocaleString()} ms`
  return `${result}${duration}${attempts > 1 ? `, tried ${attempts} times` : ''}`
}
