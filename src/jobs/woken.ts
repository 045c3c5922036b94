import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { detached } from '../lib/traced.ts'
import { ownedBy } from '../lib/work-owner.ts'

interface WokenWorkerDeps {
  /** Does some of what is due; returns whether there may be more. */
  work(signal: AbortSignal): Promise<boolean>
  /** Sets the listener that is called when something becomes due. */
  onWake(listener: () => void): void
  /** Interval of polling for what another instance left, or what is due again. */
  pollMs: number
  /** From the start of one round to the start of the next. */
  roundMs?: number
  /** What to log when the work failed. */
  failure: string
  logger: Pick<FastifyBaseLogger, 'warn'>
}

/** Begins work that is part of nothing, and has the share of jobs. */
export const asJob = <T>(run: () => T): T => detached(() => ownedBy({ kind: 'jobs', name: 'jobs' }, run))

/** Works in rounds: when it is woken, and periodically; never twice at once. */
export function startWokenWorker(deps: WokenWorkerDeps) {
  const { work, onWake, pollMs, roundMs = 0, failure, logger } = deps
  const stopping = new AbortController()
  let working: Promise<void> | undefined
  let isPending = false

  onWake(wake)
  const timer = setInterval(wake, pollMs)
  wake()

  return {
    /** Looks for work at once, or once more after what is being done. */
    wake,

    /** What is not done yet stays in the database, for the next start or another instance. */
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await working
    },
  }

  function wake(): void {
    isPending = true
    if (stopping.signal.aborted) return
    working ??= asJob(workInRounds).finally(() => {
      working = undefined
      if (isPending) wake()
    })
  }

  async function workInRounds(): Promise<void> {
    while (isPending && !stopping.signal.aborted) {
      isPending = false
      const pause = sleep(roundMs, undefined, { signal: stopping.signal }).catch(() => {})
      await workAll()
      await pause
    }
  }

  async function workAll(): Promise<void> {
    try {
      while (await work(stopping.signal)) isPending = false
    } catch (err) {
      // Usually the database is unavailable; the next poll retries.
      if (!stopping.signal.aborted) logger.warn({ err }, failure)
    }
  }
}
