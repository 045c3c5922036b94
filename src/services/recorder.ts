import { AppError } from '../errors/index.ts'
import type { SyncRunRow } from '../repositories/codehost/sync-runs.ts'
import type { PipeName } from '../repositories/pipes/index.ts'

/** The outcome of a delivery to the feedback receiver. */
export type DeliveryOutcome =
  | 'created'
  | 'duplicate'
  | 'ignored'
  | 'rejected'
  | 'unreadable'
  | 'refused'
  | 'unavailable'
  | 'failed'

/** What happened to a delivery of the code host. Those that ended were received before. */
export type PushOutcome =
  | 'received'
  | 'duplicate'
  | 'applied'
  | 'dropped'
  | 'failed'
  | 'refused'
  | 'unavailable'

/** The outcome of a delivery of a source. A pending one has another later. */
export type SourceOutcome = DeliveryOutcome | 'updated' | 'pending'

/** What happened to a claim. Completing the task ends it, too. */
export type ClaimOutcome = 'made' | 'renewed' | 'released' | 'expired'

/** What an attempt to send to an outgoing webhook ended with. */
export type WebhookOutcome = 'delivered' | 'failed'

/** How somebody signed in, and what became of it: refused for the credentials, or failed for another reason. */
export type SignInWay = 'password' | 'passkey' | 'provider' | 'key'
export type SignInOutcome = 'succeeded' | 'refused' | 'failed'

/** The status of a sync run that has ended or been postponed. */
export type SyncOutcome = Exclude<SyncRunRow['status'], 'queued' | 'running'>

/** Counts what services do, as the metrics show it. */
export interface Recorder {
  pushed(outcome: PushOutcome): void
  sourceDelivered(outcome: SourceOutcome): void
  claimed(outcome: ClaimOutcome, count?: number): void
  sentToWebhook(outcome: WebhookOutcome): void
  /** Counts a run that has ended or was postponed, and no other. */
  synced(run: SyncRunRow): void
}

/** Why an attempt failed; only administrators see the message. */
export interface PipeFailure {
  code: string
  message: string
}

/** What a refused delivery failed with. Of a sender that is slowed down, because its credentials are invalid. */
export function refusalOf(error: Error & { code: string }): PipeFailure {
  const reason = error.cause instanceof AppError ? error.cause : error
  return { code: reason instanceof AppError ? reason.code : 'bad_request', message: reason.message }
}

/** Notes how each attempt to receive or send something ended, as the status shows it. */
export interface PipeRecorder {
  succeeded(pipe: PipeName): void
  failed(pipe: PipeName, failure: PipeFailure): void
}

/** Of the feedback receiver, which is the only one of its kind. */
export const FEEDBACK_PIPE: PipeName = { kind: 'feedback', id: 'feedback' }
