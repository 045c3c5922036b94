import { and, asc, eq, gt, sql } from '../../db/drizzle.ts'
import { webhooks } from '../../db/tables/webhooks.ts'
import type { Executor } from '../index.ts'
import { isReached, type Reach } from '../reach.ts'

export type WebhookRow = typeof webhooks.$inferSelect

/** Without the columns that the queue decides. */
export type NewWebhookRow = Omit<
  WebhookRow,
  'pauses' | 'failures' | 'nextAttemptAt' | 'scheduledAttemptAt' | 'lease' | 'leaseUntil'
>

/** What is known of the attempts of a webhook whose last one succeeded. */
export const NO_FAILURES = { failures: 0, nextAttemptAt: null, scheduledAttemptAt: null }

/** Excludes others that insert a webhook. A lock of the table would wait for every change of one. */
const INSERT_LOCK = 0x0077_6563

/** The channel for notices that a webhook was changed, or has something to send at once. */
export const WEBHOOK_CHANGES = 'inlet_webhooks'

/** Outgoing webhooks, within a reach. */
export function webhooksRepository(db: Executor, reach: Reach) {
  const inReach = isReached(webhooks.projectId, reach)
  const isId = (id: string) => and(eq(webhooks.id, id), inReach)

  return {
    /** Inserts it unless there are `max` already; returns whether it did. */
    async insertUpTo(max: number, row: NewWebhookRow): Promise<boolean> {
      await db.execute(sql`select pg_advisory_xact_lock(${INSERT_LOCK})`)
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

    async update(id: string, change: Partial<NewWebhookRow & Pick<WebhookRow, 'pauses'>>): Promise<void> {
      await db.update(webhooks).set(change).where(isId(id))
    },

    /** Lets it send at once: what failed before is forgotten. */
    async resetFailures(id: string): Promise<void> {
      await db.update(webhooks).set(NO_FAILURES).where(isId(id))
    },

    /** Ends the wait after a failure, for one attempt that does not count. As before, only its oldest delivery is sent. */
    async endWait(id: string): Promise<void> {
      const scheduledAttemptAt = sql`coalesce(${webhooks.scheduledAttemptAt}, ${webhooks.nextAttemptAt})`
      await db.update(webhooks).set({ scheduledAttemptAt, nextAttemptAt: null }).where(isId(id))
    },

    /** Switches those off that are active. Returns them. */
    async switchOffAll(reason: 'imported' | 'restored'): Promise<WebhookRow[]> {
      return db
        .update(webhooks)
        .set({ isActive: false, disabledReason: reason, nextAttemptAt: null, scheduledAttemptAt: null })
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
