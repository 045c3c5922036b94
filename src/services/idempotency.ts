import { setTimeout as wait } from 'node:timers/promises'
import { idempotencyKeyReused, requestInProgress } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { KnownResponse } from '../repositories/claiming-keys.ts'
import type { IdempotencyClaim, StoredRow } from '../repositories/idempotency.ts'
import type { Repositories } from '../repositories/index.ts'

export type { KnownResponse }

/** The idempotency key of a request, for a use case that may store the response in the statement of its effect. */
export interface IdempotencyKey<Effect, Replay> {
  /** What is stored with an effect that is known before it is written. */
  responseTo(effect: Effect): KnownResponse
  /**
   * Does the work in the transaction that stores its response; if one is stored already, returns that it is replayed.
   * @throws request_in_progress, idempotency_key_reused
   */
  once(work: (repos: Repositories) => Promise<Effect>): Promise<Effect | Replay>
}

/** A response as it is sent and stored. */
export interface StoredResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** The result of the work. Without an effect it is not stored: the request may be corrected and sent again. */
export interface WorkResponse extends StoredResponse {
  hasEffect: boolean
}

/** What follows once the effect is committed; it returns the complete response. */
export interface Completion {
  withinMs: number
  complete(response: StoredResponse): Promise<StoredResponse>
}

/** Identifies a request: its caller, route and key, and a hash of its content. */
export interface RequestIdentity {
  callerId: string
  route: string
  key: string
  requestHash: string
}

/** How long a second request waits for the first that carries the same key. */
const DEADLINE_MS = 5_000
/** Interval of reading the response while the first request completes it. */
const POLL_MS = 150

export const RESPONSES_KEPT_MS = 86_400_000

export type Outcome = StoredResponse & { isReplay: boolean }

export function idempotencyService({ repos, clock }: { repos: Repositories; clock: Pick<Clock, 'now'> }) {
  return {
    /** What is stored for a key together with an effect whose response is known before. */
    known: (
      request: RequestIdentity,
      response: Omit<KnownResponse, keyof IdempotencyClaim>,
    ): KnownResponse => ({ ...request, ...response, createdAt: clock.now() }),

    /**
     * Does the work once for this key: the response is stored in the work's own transaction, so there is never an
     * effect without its response. Without an effect it is not stored: a refused request may be corrected and sent again.
     * @throws request_in_progress, idempotency_key_reused
     */
    async once(
      request: RequestIdentity,
      {
        work,
        completion,
      }: { work: (repos: Repositories) => Promise<WorkResponse>; completion?: Completion | undefined },
    ): Promise<Outcome> {
      const deadline = performance.now() + DEADLINE_MS
      for (;;) {
        const claim = { ...request, createdAt: clock.now() }
        const response = await begin(claim, { work, completion })
        if (response !== 'pending') {
          return completion && !response.isReplay
            ? completed(claim, { stored: response, ...completion })
            : response
        }
        if (performance.now() >= deadline) throw requestInProgress()
        await wait(POLL_MS)
      }
    },
  }

  /** Returns the stored response, or the work's own; `pending` while the first request is still completing it. */
  function begin(
    claim: IdempotencyClaim,
    {
      work,
      completion,
    }: { work: (repos: Repositories) => Promise<WorkResponse>; completion: Completion | undefined },
  ): Promise<Outcome | 'pending'> {
    return repos.transaction(async (repos) => {
      const keptSince = new Date(claim.createdAt.getTime() - RESPONSES_KEPT_MS)
      const stored = await repos.idempotency.claim(claim, { deadlineMs: DEADLINE_MS, keptSince })
      if (stored === 'in_progress') throw requestInProgress()
      if (stored) {
        if (stored.requestHash !== claim.requestHash) throw idempotencyKeyReused()
        if (stored.isPending) return 'pending'
        // The request that should complete it has ended or is too late, so this response is final.
        if (stored.completesBy && !(await repos.idempotency.complete(claim))) return 'pending'
        const { status, headers, body } = responseOf(stored)
        return { status, headers, body, isReplay: true }
      }
      const { hasEffect, ...response } = await work(repos)
      if (hasEffect) {
        await repos.idempotency.store(claim, { response, completesWithinMs: completion?.withinMs })
      } else await repos.idempotency.release(claim)
      return { ...response, isReplay: false }
    })
  }

  /** Returns the complete response, once it is stored; when that failed, the one that is stored. */
  async function completed(
    claim: IdempotencyClaim,
    { stored, complete }: Completion & { stored: Outcome },
  ): Promise<Outcome> {
    const response = await complete(stored)
    const isStored = await repos.idempotency.complete(claim, response).catch(() => false)
    return isStored ? { ...response, isReplay: false } : stored
  }
}

/** Committed rows are complete: status, headers and body are written before the transaction that claimed the key ends. */
const responseOf = (row: StoredRow) => row as StoredRow & StoredResponse
