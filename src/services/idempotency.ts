import { idempotencyKeyReused, requestInProgress } from '../errors.ts'
import type { Repositories } from '../repositories/index.ts'
import type { Clock } from './clock.ts'

/** An answer as it goes out, and as it is kept. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: string
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

export const ANSWERS_KEPT_MS = 86_400_000

export function idempotencyService({ repos, clock }: { repos: Repositories; clock: Pick<Clock, 'now'> }) {
  return {
    /**
     * Does the work once for this key: the answer is written in the work's own transaction, so there is never an
     * effect without its answer. Only work that succeeds is kept; a refused request may be mended and sent again.
     */
    async once(
      request: RequestIdentity,
      work: (repos: Repositories) => Promise<KeptAnswer>,
    ): Promise<KeptAnswer & { isReplay: boolean }> {
      return repos.transaction(async (repos) => {
        const now = clock.now()
        const claim = { ...request, createdAt: now }
        const keptSince = new Date(now.getTime() - ANSWERS_KEPT_MS)
        const kept = await repos.idempotency.claim(claim, { patienceMs: PATIENCE_MS, keptSince })
        if (kept === 'in_progress') throw requestInProgress()
        if (kept) {
          if (kept.requestHash !== request.requestHash) throw idempotencyKeyReused()
          return { ...answerOf(kept), isReplay: true }
        }
        const answer = await work(repos)
        await repos.idempotency.keep(claim, answer)
        return { ...answer, isReplay: false }
      })
    },
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
  body: string | null
}) => ({ status, headers, body }) as KeptAnswer
