import { setTimeout as wait } from 'node:timers/promises'
import { idempotencyKeyReused, requestInProgress } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdempotencyClaim } from '../repositories/idempotency.ts'
import type { Repositories } from '../repositories/index.ts'

/** An answer as it goes out, and as it is kept. */
export interface StoredResponse {
  status: number
  headers: Record<string, string>
  /** A long one in parts, as bytes. */
  body: string | Buffer[]
}

/** What came of the work. Without an effect it is not kept: the request may be mended and sent again. */
export interface WorkAnswer extends StoredResponse {
  hasEffect: boolean
}

/** What is still to come once the effect is committed; the answer is the complete one. */
export interface Completion {
  withinMs: number
  complete(response: StoredResponse): Promise<StoredResponse & { body: string }>
}

/** One request: who sent it, where to, under which key, and a hash of all it asks. */
export interface RequestIdentity {
  callerId: string
  route: string
  key: string
  requestHash: string
}

/** How long a second request waits for the first that carries the same key. */
const DEADLINE_MS = 5_000
/** While the first is completed, its answer is looked at this often. */
const GLANCE_MS = 150

export const RESPONSES_KEPT_MS = 86_400_000

type Outcome = StoredResponse & { isReplay: boolean }

export function idempotencyService({ repos, clock }: { repos: Repositories; clock: Pick<Clock, 'now'> }) {
  return {
    /**
     * Does the work once for this key: the answer is written in the work's own transaction, so there is never an
     * effect without its answer. Only work that has an effect is kept; a refused request may be mended and sent again.
     */
    async once(
      request: RequestIdentity,
      work: (repos: Repositories) => Promise<WorkAnswer>,
      completion?: Completion,
    ): Promise<Outcome> {
      const deadline = performance.now() + DEADLINE_MS
      for (;;) {
        const claim = { ...request, createdAt: clock.now() }
        const response = await begin(claim, work, completion)
        if (response !== 'pending') {
          return completion && !response.isReplay ? completed(claim, response, completion) : response
        }
        if (performance.now() >= deadline) throw requestInProgress()
        await wait(GLANCE_MS)
      }
    },
  }

  /** The kept answer, or the work's own; `pending` while the first request is still completing it. */
  function begin(
    claim: IdempotencyClaim,
    work: (repos: Repositories) => Promise<WorkAnswer>,
    completion: Completion | undefined,
  ): Promise<Outcome | 'pending'> {
    return repos.transaction(async (repos) => {
      const keptSince = new Date(claim.createdAt.getTime() - RESPONSES_KEPT_MS)
      const kept = await repos.idempotency.claim(claim, { deadlineMs: DEADLINE_MS, keptSince })
      if (kept === 'in_progress') throw requestInProgress()
      if (kept) {
        if (kept.requestHash !== claim.requestHash) throw idempotencyKeyReused()
        if (kept.isPending) return 'pending'
        // Whoever was to complete it is gone, or too late: from here on the answer is this one.
        if (kept.completesBy && !(await repos.idempotency.complete(claim))) return 'pending'
        return { ...responseOf(kept), isReplay: true }
      }
      const { hasEffect, ...response } = await work(repos)
      if (hasEffect) await repos.idempotency.keep(claim, response, completion?.withinMs)
      else await repos.idempotency.release(claim)
      return { ...response, isReplay: false }
    })
  }

  /** The complete answer, once it is the kept one; when that could not be written, the one that is kept. */
  async function completed(
    claim: IdempotencyClaim,
    kept: Outcome,
    { complete }: Completion,
  ): Promise<Outcome> {
    const response = await complete(kept)
    const isKept = await repos.idempotency.complete(claim, response).catch(() => false)
    return isKept ? { ...response, isReplay: false } : kept
  }
}

/** Committed rows are whole: status, headers and body are written before the transaction that claimed the key ends. */
const responseOf = ({
  status,
  headers,
  body,
}: {
  status: number | null
  headers: unknown
  body: string | Buffer[] | null
}) => ({ status, headers, body }) as StoredResponse
