import { truncateUtf8 } from '../../lib/truncate-utf8.ts'
import type { PipeAttempts, PipeName } from '../../repositories/pipes/index.ts'
import { isUuid, repaired } from '../../schemas/formats.ts'
import { ENVIRONMENT_PROVIDER } from '../../schemas/identity-provider.ts'
import { FEEDBACK_PIPE, type PipeFailure, type PipeRecorder } from '../recorder.ts'

/** Attempts of one pipe that are not stored yet. Times are those of `performance.now`. */
interface Unstored {
  pipe: PipeName
  succeeded: number
  failed: number
  firstAt: number
  lastAt: number
  lastSuccessAt: number | null
  lastErrorAt: number | null
  failingSince: number | null
  failure: PipeFailure | null
}

/**
 * Requests of strangers name sources and connections that need not exist: what is in memory is limited. Those that exist
 * are still counted then.
 */
const MAX_PIPES = 10_000
const OF_STRANGERS: ReadonlySet<string> = new Set(['missing_credentials', 'invalid_credentials'])
const MAX_DETAIL_BYTES = 2_000

/** The sender tries again later: nothing is broken. */
const NO_ATTEMPT = 'rate_limited'

export type AttemptBuffer = ReturnType<typeof attemptBuffer>

/** Counts the attempts of each pipe in memory until they are stored, so that an attempt costs no statement. */
export function attemptBuffer() {
  let unstored = new Map<string, Unstored>()

  const recorder: PipeRecorder = {
    succeeded(pipe) {
      const attempts = attemptsOf(pipe)
      if (!attempts) return
      attempts.succeeded++
      attempts.lastSuccessAt = attempts.lastAt
      attempts.failingSince = null
    },

    failed(pipe, { code, message }) {
      if (code === NO_ATTEMPT || (OF_STRANGERS.has(code) && isFull(pipe))) return
      const attempts = attemptsOf(pipe)
      if (!attempts) return
      attempts.failed++
      attempts.lastErrorAt = attempts.lastAt
      attempts.failingSince ??= attempts.lastAt
      attempts.failure = { code, message }
    },
  }

  return {
    recorder,

    /**
     * Passes what was counted to `store`. What can't be stored is kept for the next time; the counts of pipes that were
     * used meanwhile are added to it.
     */
    async storeWith(store: (attempts: PipeAttempts[]) => Promise<void>): Promise<void> {
      if (unstored.size === 0) return
      const taken = unstored
      unstored = new Map()
      try {
        await store([...taken.values()].map(toAttempts))
      } catch (error) {
        for (const [key, later] of unstored) {
          const earlier = taken.get(key)
          taken.set(key, earlier ? joined(earlier, later) : later)
        }
        unstored = taken
        throw error
      }
    },
  }

  function isFull(pipe: PipeName): boolean {
    return unstored.size >= MAX_PIPES && !unstored.has(keyOf(pipe))
  }

  /** Those of a pipe, with an attempt that ends now; undefined if its ID is none. */
  function attemptsOf(pipe: PipeName): Unstored | undefined {
    const key = keyOf(pipe)
    const lastAt = performance.now()
    const known = unstored.get(key)
    if (known) {
      known.lastAt = lastAt
      return known
    }
    if (!isUuid(pipe.id) && !NAMED.includes(pipe.id)) return undefined
    const added = { pipe, ...NONE, firstAt: lastAt, lastAt }
    unstored.set(key, added)
    return added
  }
}

const keyOf = ({ kind, id }: PipeName) => `${kind} ${id}`

/** Of pipes without a row. */
const NAMED = [FEEDBACK_PIPE.id, ENVIRONMENT_PROVIDER]

const NONE = {
  succeeded: 0,
  failed: 0,
  lastSuccessAt: null,
  lastErrorAt: null,
  failingSince: null,
  failure: null,
}

const joined = (earlier: Unstored, later: Unstored): Unstored => ({
  ...later,
  succeeded: earlier.succeeded + later.succeeded,
  failed: earlier.failed + later.failed,
  firstAt: earlier.firstAt,
  lastSuccessAt: later.lastSuccessAt ?? earlier.lastSuccessAt,
  lastErrorAt: later.lastErrorAt ?? earlier.lastErrorAt,
  failingSince:
    later.lastSuccessAt === null ? (earlier.failingSince ?? later.failingSince) : later.failingSince,
  failure: later.failure ?? earlier.failure,
})

function toAttempts({ pipe, failure, ...attempts }: Unstored): PipeAttempts {
  const now = performance.now()
  const msAgo = (at: number | null) => (at === null ? null : now - at)
  return {
    ...pipe,
    succeeded: attempts.succeeded,
    failed: attempts.failed,
    firstMs: now - attempts.firstAt,
    lastMs: now - attempts.lastAt,
    lastSuccessMs: msAgo(attempts.lastSuccessAt),
    lastErrorMs: msAgo(attempts.lastErrorAt),
    failingMs: msAgo(attempts.failingSince),
    code: failure?.code ?? null,
    detail: failure && truncateUtf8(repaired(failure.message), MAX_DETAIL_BYTES),
  }
}
