import type { FastifyBaseLogger } from 'fastify'
import type { OutboxService } from '../services/write-back/outbox.ts'
import { startWokenWorker } from './woken.ts'

interface OutboxWorkerDeps {
  outbox: Pick<OutboxService, 'sendDue' | 'onQueued'>
  logger: Pick<FastifyBaseLogger, 'warn'>
  pollMs?: number
}

/** Writes to the code host what was changed here: at once when any instance has changed it, and every 5 seconds. */
export const startOutboxWorker = ({ outbox, logger, pollMs = 5_000 }: OutboxWorkerDeps) =>
  startWokenWorker({
    work: outbox.sendDue,
    onWake: outbox.onQueued,
    pollMs,
    failure: 'changes were not written to the code host',
    logger,
  })
