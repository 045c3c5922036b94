import { setTimeout as wait } from 'node:timers/promises'
import { idempotencyKeyReused, requestInProgress } from '../errors.ts'
import type { IdempotencyClaim } from '../repositories/idempotency.ts'
import type { Repositories } from '../repositories/index.ts'
import type { Clock } from './clock.ts'

/** An answer as it goes out, and as it is kept. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  /** A long one in parts, as bytes. */
  body: string | Buffer[]
}

/** What came of the work. Without an effect it is not kept: the request may be mended and sent again. */
export interface WorkAnswer extends KeptAnswer {
  hasEffect: boolean
}

/** What is still to come once the effect is committed; the answer is the complete one. */
export interface Completion {
  withinMs: number
  complete(answer: KeptAnswer): Promise<KeptAnswer & { body: string }>
}

/** One request: who sent it, where to, under which key, and a hash of all it asks. */
export interface RequestIdentity {
  callerId: string
  route: string
  key: string
  requestHash: string
}

/** How long a second request waits for the first that carries the same key. */
const PATIENCE_MS = 5_000
/** While the first is completed, its answer is looked at this often. */
const GLANCE_MS = 150

export const ANSWERS_KEPT_MS = 86_400_000

type Outcome = KeptAnswer & { isReplay: boolean }

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
      const deadline = performance.now() + PATIENCE_MS
      for (;;) {
        const claim = { ...request, createdAt: clock.now() }
        const answer = await begin(claim, work, completion)
        if (answer !== 'pending') {
          return completion && !answer.isReplay ? completed(claim, answer, completion) : answer
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
      const keptSince = new Date(claim.createdAt.getTime() - ANSWERS_KEPT_MS)
      const kept = await repos.idempotency.claim(claim, { patienceMs: PATIENCE_MS, keptSince })
      if (kept === 'in_progress') throw requestInProgress()
      if (kept) {
        if (kept.requestHash !== claim.requestHash) throw idempotencyKeyReused()
        if (kept.isPending) return 'pending'
        // Whoever was to complete it is gone, or too late: from here on the answer is this one.
        if (kept.completesBy && !(await repos.idempotency.complete(claim))) return 'pending'
        return { ...answerOf(kept), isReplay: true }
      }
      const { hasEffect, ...answer } = await work(repos)
      if (hasEffect) await repos.idempotency.keep(claim, answer, completion?.withinMs)
      else await repos.idempotency.release(claim)
      return { ...answer, isReplay: false }
    })
  }

  /** The complete answer, once it is the kept one; when that could not be written, the one that is kept. */
  async function completed(
    claim: IdempotencyClaim,
    kept: Outcome,
    { complete }: Completion,
  ): Promise<Outcome> {
    const answer = await complete(kept)
    const isKept = await repos.idempotency.complete(claim, answer).catch(() => false)
    return isKept ? { ...answer, isReplay: false } : kept
  }
}

/** Committed rows are whole: status, headers and body are written before the transaction that claimed the key ends. */
const answerOf = ({
  status,
  headers,
  body,
}: {
  status: number | null
  headers: unknown
  body: string | Buffer[] | null
}) => ({ status, headers, body }) as KeptAnswer
