import { and, asc, eq, gt, sql } from '../../db/drizzle.ts'
import { webhooks } from '../../db/tables/webhooks.ts'
import type { Executor, Reach } from '../index.ts'

export type WebhookRow = typeof webhooks.$inferSelect

/** Without the columns that the queue decides. */
export type NewWebhookRow = Omit<WebhookRow, 'failures' | 'nextAttemptAt' | 'lease' | 'leaseUntil'>

/** The channel for notices that a webhook was changed, or has something to send at once. */
export const WEBHOOK_CHANGES = 'inlet_webhooks'

/** Outgoing webhooks, within a reach. */
export function webhooksRepository(db: Executor, reach: Reach) {
  const inReach = reach.projectId === null ? undefined : eq(webhooks.projectId, reach.projectId)
  const isId = (id: string) => and(eq(webhooks.id, id), inReach)

  return {
    /** Inserts it unless there are `max` already; returns whether it did. The lock excludes others that insert. */
    async insertUpTo(max: number, row: NewWebhookRow): Promise<boolean> {
      await db.execute(sql`lock table ${webhooks} in share row exclusive mode`)
      const [counted] = await db.select({ count: sql<number>`count(*)::integer` }).from(webhooks)
      if ((counted?.count ?? 0) >= max) return false
      await db.insert(webhooks).values(row)
      return true
    },

    async find(id: string): Promise<WebhookRow | undefined> {
      const [row] = await db.select().from(webhooks).where(isId(id))
      return row
    },

    /** Locks it until the transaction ends. */
    async findForUpdate(id: string): Promise<WebhookRow | undefined> {
      const [row] = await db.select().from(webhooks).where(isId(id)).for('no key update')
      return row
    },

    /** Oldest first. */
    async list({ after, limit }: { after: string | undefined; limit: number }): Promise<WebhookRow[]> {
      return db
        .select()
        .from(webhooks)
        .where(and(inReach, after === undefined ? undefined : gt(webhooks.id, after)))
        .orderBy(asc(webhooks.id))
        .limit(limit)
    },

    async update(id: string, change: Partial<NewWebhookRow>): Promise<void> {
      await db.update(webhooks).set(change).where(isId(id))
    },

    /** Lets it send at once: what failed before is forgotten. */
    async resetFailures(id: string): Promise<void> {
      await db.update(webhooks).set({ failures: 0, nextAttemptAt: null }).where(isId(id))
    },

    /** Ends the wait after a failure. As before, only its oldest delivery is sent. */
    async endWait(id: string): Promise<void> {
      await db.update(webhooks).set({ nextAttemptAt: null }).where(isId(id))
    },

    /** Switches those off that are active. Returns them. */
    async switchOffAll(reason: 'imported' | 'restored'): Promise<WebhookRow[]> {
      return db
        .update(webhooks)
        .set({ isActive: false, disabledReason: reason, nextAttemptAt: null })
        .where(and(inReach, eq(webhooks.isActive, true)))
        .returning()
    },

    async delete(id: string): Promise<void> {
      await db.delete(webhooks).where(isId(id))
    },

    /** Notifies every instance at the commit. */
    async announce(): Promise<void> {
      await db.execute(sql`select pg_notify(${WEBHOOK_CHANGES}, '')`)
    },
  }
}
