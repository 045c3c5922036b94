import { and, desc, eq, getTableColumns, isNull, lt, sql } from '../../db/drizzle.ts'
import { tasks } from '../../db/tables/tasks.ts'
import { webhookDeliveries } from '../../db/tables/webhooks.ts'
import type { Executor } from '../index.ts'
import { isReached, type Reach } from '../reach.ts'

export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect

/** With the title of the task as it is now: null without one, if it is deleted, and out of reach. */
export type TitledDelivery = WebhookDeliveryRow & { taskTitle: string | null }

const IS_UNDELIVERED = sql`${webhookDeliveries.outcome} <> 'delivered'`

/** What was sent to webhooks, and what waits. */
export function webhookDeliveriesRepository(db: Executor, reach: Reach) {
  const title = db
    .select({ title: tasks.title })
    .from(tasks)
    .where(
      and(eq(tasks.id, webhookDeliveries.taskId), isNull(tasks.deletedAt), isReached(tasks.projectId, reach)),
    )
  const titled = { ...getTableColumns(webhookDeliveries), taskTitle: sql<string | null>`(${title})` }
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
    ): Promise<TitledDelivery[]> {
      return db
        .select(titled)
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
    async findForUpdate(webhookId: string, id: string): Promise<TitledDelivery | undefined> {
      const [row] = await db.select(titled).from(webhookDeliveries).where(isThe(webhookId, id)).for('update')
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
