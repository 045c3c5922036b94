import { isRelevant } from '../../domain/webhooks.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { PositionedChange } from '../../repositories/webhooks/queue.ts'
import type { WebhookRow } from '../../repositories/webhooks/webhooks.ts'

/** Changes that are read at a time. */
const PAGE = 500

/**
 * Writes all deliveries of a webhook up to a position, which no longer happens once it is switched off. Its row has to be
 * locked: nobody else writes its deliveries then.
 */
export async function writeOutstanding(
  webhookQueue: Repositories['webhookQueue'],
  { webhook, to, clock }: { webhook: WebhookRow; to: number; clock: Clock },
): Promise<void> {
  for (let after = webhook.position; after < to; ) {
    const changes = await webhookQueue.listChanges({ after, to, limit: PAGE })
    const position = (changes.length === PAGE ? changes.at(-1)?.position : undefined) ?? to
    const rows = outstandingDeliveries(webhook, { changes, clock })
    await webhookQueue.add(rows, { webhookIds: [webhook.id], position })
    after = position
  }
}

/** The deliveries of those changes that a webhook has no deliveries of yet. */
export function outstandingDeliveries(
  webhook: WebhookRow,
  { changes, clock }: { changes: PositionedChange[]; clock: Clock },
) {
  const now = clock.now()
  return changes
    .filter((change) => change.position > webhook.position && isRelevant(webhook, change))
    .map(({ position, type, id: activityId, taskId }) => ({
      ...{ webhookId: webhook.id, id: clock.newId(now), position, type, activityId, taskId },
    }))
}
