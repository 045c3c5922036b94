import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import {
  deliveryNotFound,
  testNotRetryable,
  webhookNotActive,
  webhookNotFound,
  webhookSecretMissing,
} from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { TitledDelivery, WebhookDeliveryRow } from '../../repositories/webhooks/deliveries.ts'
import type { Activity } from '../../schemas/activity.ts'
import type {
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPath,
  WebhookDeliveryQuery,
} from '../../schemas/webhook.ts'
import type { Caller } from '../access.ts'
import { actorOf } from '../activity/row.ts'
import { readPage } from '../page.ts'
import type { PipeRecorder } from '../recorder.ts'
import { type AttemptDeps, noteAttempt, webhookAttempts } from './attempt.ts'
import { about, lockedWebhook, toWebhook, webhookOf } from './index.ts'

export const webhookDeliveryOperations = {
  list: { scope: 'admin' },
  retry: { scope: 'admin' },
  retryAll: { scope: 'admin' },
  test: { scope: 'admin' },
} satisfies Operations<ReturnType<typeof webhookDeliveriesService>>

interface WebhookDeliveriesDeps extends AttemptDeps {
  repos: Repositories
  clock: Clock
  pipes: PipeRecorder
}

/** What was sent to webhooks, and what waits. */
export function webhookDeliveriesService(deps: WebhookDeliveriesDeps) {
  const { repos, clock, pipes } = deps
  const attemptsOf = webhookAttempts(deps)

  return {
    /**
     * Newest first.
     * @throws webhook_not_found, invalid_cursor
     */
    async list(caller: Caller, { id, query }: { id: string; query: WebhookDeliveryQuery }) {
      const { outcome, ...request } = query
      const bound = repos.within(caller)
      await webhookOf(bound, id)
      return readPage({
        order: orderById('webhook deliveries'),
        request,
        read: async (before, limit) =>
          (await bound.webhookDeliveries.list(id, { outcome, before, limit })).map(toDelivery),
      })
    },

    /**
     * Queues a delivery again, also one that was delivered, and ends the wait after a failure.
     * @throws webhook_not_found, webhook_not_active, delivery_not_found, delivery_not_replayable, project_archived
     */
    async retry(caller: Caller, { id, deliveryId }: WebhookDeliveryPath): Promise<WebhookDelivery> {
      return repos.within(caller).transaction(async (repos) => {
        const webhook = await lockedWebhook(repos, id)
        const delivery = await repos.webhookDeliveries.findForUpdate(id, deliveryId)
        if (!delivery) throw deliveryNotFound(deliveryId)
        if (delivery.position === null) throw testNotRetryable(deliveryId)
        if (!webhook.isActive) throw webhookNotActive(id)
        await repos.webhookDeliveries.requeue(id, deliveryId)
        await repos.webhooks.endWait(id)
        await repos.webhooks.announce()
        return toDelivery({ ...delivery, outcome: 'pending', finishedAt: null })
      })
    },

    /**
     * Ends the wait after a failure: the oldest delivery is sent now, and after it, unless it fails, all that wait.
     * @throws webhook_not_found, webhook_not_active, project_archived
     */
    async retryAll(caller: Caller, id: string): Promise<Webhook> {
      return repos.within(caller).transaction(async (repos) => {
        const webhook = await lockedWebhook(repos, id)
        if (!webhook.isActive) throw webhookNotActive(id)
        await repos.webhooks.endWait(id)
        await repos.webhooks.announce()
        return toWebhook({ ...webhook, nextAttemptAt: null })
      })
    },

    /**
     * Sends a test once, also to a webhook that is switched off, and returns what the receiver responded.
     * @throws webhook_not_found, webhook_secret_missing
     */
    async test(caller: Caller, id: string): Promise<WebhookDelivery> {
      const bound = repos.within(caller)
      const webhook = await webhookOf(bound, id)
      if (webhook.secret === null) throw webhookSecretMissing(id)
      const createdAt = clock.now()
      const deliveryId = clock.newId(createdAt)
      const activity: Activity = {
        id: deliveryId,
        type: 'webhook.test',
        message: 'A test. Nothing has changed.',
        taskId: null,
        projectId: webhook.projectId,
        actor: actorOf(caller),
        metadata: about(webhook),
        createdAt: createdAt.toISOString(),
      }
      const { signal } = new AbortController()
      const sent = await attemptsOf(webhook)({ id: deliveryId, activity, task: null }, signal)
      noteAttempt(pipes, sent)
      const now = clock.now()
      const row: WebhookDeliveryRow = {
        ...sent,
        position: null,
        type: activity.type,
        activityId: null,
        taskId: null,
        attempts: 1,
        createdAt,
        lastAttemptAt: now,
        finishedAt: now,
      }
      await bound.transaction(async (repos) => {
        if (!(await repos.webhooks.findForUpdate(id))) throw webhookNotFound(id)
        await repos.webhookDeliveries.insert(row)
      })
      return toDelivery({ ...row, taskTitle: null })
    },
  }
}

const toDelivery = (row: TitledDelivery): WebhookDelivery => ({
  id: row.id,
  webhookId: row.webhookId,
  type: row.type,
  activityId: row.activityId,
  taskId: row.taskId,
  taskTitle: row.taskTitle,
  outcome: row.outcome,
  attempts: row.attempts,
  responseStatus: row.responseStatus,
  responseBody: row.responseBody,
  error: row.error,
  durationMs: row.durationMs,
  createdAt: row.createdAt.toISOString(),
  lastAttemptAt: row.lastAttemptAt?.toISOString() ?? null,
  finishedAt: row.finishedAt?.toISOString() ?? null,
})
