import type { FastifyBaseLogger } from 'fastify'
import type { PushService } from '../services/push/index.ts'
import { startWokenWorker } from './woken.ts'

interface PushWorkerDeps {
  push: Pick<PushService, 'applyDue' | 'onReceived' | 'whenRefetched'>
  logger: Pick<FastifyBaseLogger, 'warn'>
  pollMs?: number
  roundMs?: number
}

/**
 * Deliveries that arrive meanwhile share a transaction: applied one by one, 100 a second take half as much processor
 * time again in Node, and twice as much in PostgreSQL.
 */
const ROUND_MS = 100

/** Applies deliveries of the code host: at once when this process has stored one, and every 5 seconds. */
export function startPushWorker({ push, logger, pollMs = 5_000, roundMs = ROUND_MS }: PushWorkerDeps) {
  const worker = startWokenWorker({
    work: push.applyDue,
    onWake: push.onReceived,
    pollMs,
    roundMs,
    failure: 'deliveries of the code host were not applied',
    logger,
  })
  return {
    async stop(): Promise<void> {
      await worker.stop()
      await push.whenRefetched()
    },
  }
}
