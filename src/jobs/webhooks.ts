import type { FastifyBaseLogger } from 'fastify'
import type { WebhookQueueService } from '../services/webhooks/queue.ts'
import { startWokenWorker } from './woken.ts'

interface WebhookWorkerDeps {
  webhookQueue: WebhookQueueService
  logger: Pick<FastifyBaseLogger, 'warn'>
  /** How often changes are looked for while there is an active webhook. */
  writeMs?: number
  /** How often deliveries are looked for that are due again, or that another instance left. */
  sendMs?: number
}

/** Writes the deliveries of outgoing webhooks, and sends them. */
export function startWebhookWorker(deps: WebhookWorkerDeps) {
  const { webhookQueue, logger, writeMs = 250, sendMs = 1_000 } = deps
  webhookQueue.listen({
    onError: (err, webhookId) => logger.warn({ err, webhookId }, 'webhook deliveries were interrupted'),
    onSwitchedOff: (webhookId, reason) => logger.warn({ webhookId, reason }, 'webhook switched off'),
  })
  const writer = startWokenWorker({
    work: webhookQueue.writeDeliveries,
    onWake: webhookQueue.onWrittenChange,
    pollMs: writeMs,
    failure: 'webhook deliveries were not written',
    logger,
  })
  const sender = startWokenWorker({
    work: webhookQueue.startSending,
    onWake: webhookQueue.onSendable,
    pollMs: sendMs,
    failure: 'webhook deliveries were not looked for',
    logger,
  })
  return {
    async stop(): Promise<void> {
      await Promise.all([writer.stop(), sender.stop()])
      await webhookQueue.endSending()
    },
  }
}
