import type { FastifyBaseLogger } from 'fastify'
import type { PushService } from '../services/push/index.ts'

interface PushWorkerDeps {
  push: Pick<PushService, 'applyDue' | 'onReceived'>
  logger: Pick<FastifyBaseLogger, 'warn'>
  /** Interval of polling for deliveries that another instance left, or that are due again. */
  pollMs?: number
}

/** Applies deliveries of the code host: at once when this process has stored one, and every 5 seconds. */
export function startPushWorker({ push, logger, pollMs = 5_000 }: PushWorkerDeps) {
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
    try {
      do isPending = false
      while ((await push.applyDue(stopping.signal)) || isPending)
    } catch (err) {
      // Usually the database is unavailable; the next poll retries.
      if (!stopping.signal.aborted) logger.warn({ err }, 'deliveries of the code host were not applied')
    }
  }
}
