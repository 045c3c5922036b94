import { and, desc, eq, lt, sql } from '../../db/drizzle.ts'
import { webhookDeliveries } from '../../db/tables/webhooks.ts'
import type { Executor } from '../index.ts'

export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect

const IS_UNDELIVERED = sql`${webhookDeliveries.outcome} <> 'delivered'`

/** What was sent to webhooks, and what waits. */
export function webhookDeliveriesRepository(db: Executor) {
  const isThe = (webhookId: string, id: string) =>
    and(eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.id, id))

  return {
    async insert(row: WebhookDeliveryRow): Promise<void> {
      await db.insert(webhookDeliveries).values(row)
    },

    /** Newest first. */
    async list(
      webhookId: string,
      page: {
        outcome: WebhookDeliveryRow['outcome'] | undefined
        before: string | undefined
        limit: number
      },
    ): Promise<WebhookDeliveryRow[]> {
      return db
        .select()
        .from(webhookDeliveries)
        .where(
          and(
            eq(webhookDeliveries.webhookId, webhookId),
            page.outcome && eq(webhookDeliveries.outcome, page.outcome),
            // Without values, a plan could not use the index of these.
            page.outcome && page.outcome !== 'delivered' ? IS_UNDELIVERED : undefined,
            page.before === undefined ? undefined : lt(webhookDeliveries.id, page.before),
          ),
        )
        .orderBy(desc(webhookDeliveries.id))
        .limit(page.limit)
    },

    /** Locks it until the transaction ends. */
    async findForUpdate(webhookId: string, id: string): Promise<WebhookDeliveryRow | undefined> {
      const [row] = await db.select().from(webhookDeliveries).where(isThe(webhookId, id)).for('update')
      return row
    },

    /** Queues it again, also if it was delivered. */
    async requeue(webhookId: string, id: string): Promise<void> {
      await db
        .update(webhookDeliveries)
        .set({ outcome: 'pending', finishedAt: null })
        .where(isThe(webhookId, id))
    },
  }
}
