import type { KeyObject } from 'node:crypto'
import type { Receipt } from '../../clients/webhook-receiver.ts'
import { signatureHeaders, signingKeyOf } from '../../domain/webhooks.ts'
import type { Clock } from '../../lib/clock.ts'
import { truncateUtf8 } from '../../lib/truncate-utf8.ts'
import { VERSION } from '../../lib/version.ts'
import type { Attempt } from '../../repositories/webhooks/queue.ts'
import type { WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import type { Activity } from '../../schemas/activity.ts'
import { repaired } from '../../schemas/formats.ts'
import type { PipeRecorder } from '../recorder.ts'
import { liveOf } from '../rotating-secrets.ts'
import type { WebhookSigner } from './signer.ts'

export interface AttemptDeps {
  clock: Pick<Clock, 'now'>
  signer: Pick<WebhookSigner, 'secretsOf'>
  receiver: {
    post(request: {
      url: string
      headers: Record<string, string>
      body: string
      signal: AbortSignal
    }): Promise<Receipt>
  }
}

/** What is sent. */
export interface Message {
  id: string
  activity: Activity
  /** JSON text in its summary form. */
  task: string | null
}

const MAX_BODY_CHARACTERS = 1_000

const HEADERS = { 'content-type': 'application/json', 'user-agent': `Inlet/${VERSION}` }
const UNREADABLE =
  'The secret cannot be decrypted: ENCRYPTION_KEY was changed. Set it or ENCRYPTION_KEY_PREVIOUS to the key from before, or replace the secret.'

interface Sent {
  message: Message
  now: Date
  keys: KeyObject[]
  signal: AbortSignal
}

/**
 * Returns a function that sends messages to a webhook as it is now, each once. That one rejects only if the signal is
 * aborted.
 */
export function webhookAttempts({ clock, signer, receiver }: AttemptDeps) {
  return (webhook: WebhookRow) => {
    const keysAt = validKeys(webhook)
    return (message: Message, signal: AbortSignal) => {
      const now = clock.now()
      return attempt(webhook, { message, now, keys: keysAt(now), signal })
    }
  }

  /** The keys to sign with are derived once, and again when a previous secret ends. */
  function validKeys(webhook: WebhookRow): (now: Date) => KeyObject[] {
    let keys: KeyObject[] = []
    let previousCount: number | undefined
    return (now) => {
      const { length } = liveOf(webhook.previousSecrets, now)
      if (length !== previousCount) keys = signer.secretsOf(webhook, now).map(signingKeyOf)
      previousCount = length
      return keys
    }
  }

  async function attempt(
    { id: webhookId, url }: WebhookRow,
    { message, now, keys, signal }: Sent,
  ): Promise<Attempt> {
    const { id } = message
    const failed = (about: Partial<Attempt> & { error: string }): Attempt => ({
      webhookId,
      id,
      outcome: 'failed',
      durationMs: null,
      responseStatus: null,
      responseBody: null,
      ...about,
    })
    if (keys.length === 0) return failed({ error: UNREADABLE })
    const body = bodyOf(message)
    const headers = { ...HEADERS, ...signatureHeaders(body, { id, now, keys }) }
    const since = performance.now()
    const { status, body: response, error } = await receiver.post({ url, headers, body, signal })
    const durationMs = Math.round(performance.now() - since)
    if (status !== null && status >= 200 && status < 300) {
      return {
        webhookId,
        id,
        outcome: 'delivered',
        durationMs,
        responseStatus: status,
        responseBody: null,
        error: null,
      }
    }
    return failed({
      error: error ?? refusalOf(status ?? 0),
      durationMs,
      responseStatus: status,
      responseBody: response === '' ? null : beginningOf(response),
    })
  }
}

/** Notes how an attempt ended, for the status. */
export function noteAttempt(pipes: PipeRecorder, { webhookId, outcome, error }: Attempt): void {
  const pipe = { kind: 'webhook', id: webhookId } as const
  if (outcome === 'delivered') pipes.succeeded(pipe)
  else pipes.failed(pipe, { code: 'receiver_failed', message: error ?? '' })
}

/** The task is JSON already. */
const bodyOf = ({ activity, task }: Message) =>
  `{"type":${JSON.stringify(activity.type)},"timestamp":${JSON.stringify(activity.createdAt)},"data":${JSON.stringify(activity)},"task":${task ?? 'null'}}`

const refusalOf = (status: number) =>
  status >= 300 && status < 400
    ? `The receiver responded with ${status}. Redirects are not followed.`
    : `The receiver responded with ${status}.`

/** PostgreSQL stores neither NUL nor half a character. */
const beginningOf = (text: string) =>
  repaired([...truncateUtf8(text, 4 * MAX_BODY_CHARACTERS)].slice(0, MAX_BODY_CHARACTERS).join(''))
