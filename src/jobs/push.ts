import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { PushService } from '../services/push/index.ts'

interface PushWorkerDeps {
  push: Pick<PushService, 'applyDue' | 'onReceived'>
  logger: Pick<FastifyBaseLogger, 'warn'>
  /** Interval of polling for deliveries that another instance left, or that are due again. */
  pollMs?: number
  roundMs?: number
}

/**
 * From the start of one round to the start of the next. Deliveries that arrive meanwhile share a transaction: applied
 * one by one, 100 a second take half as much processor time again in Node, and twice as much in PostgreSQL.
 */
const ROUND_MS = 100

/** Applies deliveries of the code host: at once when this process has stored one, and every 5 seconds. */
export function startPushWorker({ push, logger, pollMs = 5_000, roundMs = ROUND_MS }: PushWorkerDeps) {
  const stopping = new AbortController()
  let working: Promise<void> | undefined
  let isPending = false

  push.onReceived(wake)
  const timer = setInterval(wake, pollMs)
  wake()

  return {
    /** What is not applied yet stays in the inbox, for the next start or another instance. */
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await working
    },
  }

  function wake(): void {
    isPending = true
    if (stopping.signal.aborted) return
    working ??= work().finally(() => {
      working = undefined
      if (isPending) wake()
    })
  }

  async function work(): Promise<void> {
    while (isPending && !stopping.signal.aborted) {
      isPending = false
      const pause = sleep(roundMs, undefined, { signal: stopping.signal }).catch(() => {})
      await applyAll()
      await pause
    }
  }

  async function applyAll(): Promise<void> {
    try {
      while (await push.applyDue(stopping.signal)) isPending = false
    } catch (err) {
      // Usually the database is unavailable; the next poll retries.
      if (!stopping.signal.aborted) logger.warn({ err }, 'deliveries of the code host were not applied')
    }
  }
}
