import { eq, inArray, sql } from '../../db/drizzle.ts'
import { sourceBacklog } from '../../db/tables/deliveries.ts'
import { sources } from '../../db/tables/sources.ts'
import { databaseTime, inMs } from '../codehost/database-time.ts'
import { type DeliveryRow, deliveriesRepository } from '../deliveries/store.ts'
import type { Executor } from '../index.ts'
import { everywhere } from '../reach.ts'

export type BacklogRow = typeof sourceBacklog.$inferSelect

/** Whether a source has pending deliveries. */
export const hasBacklog = sql<boolean>`
  exists (select from ${sourceBacklog} where ${sourceBacklog}.source_id = ${sources}.id)`

/** The pending deliveries of sources: its callers know that these are in their reach. */
export function sourceBacklogRepository(db: Executor) {
  const store = deliveriesRepository(db, everywhere)

  return {
    /** How many deliveries these sources have, how large they are, and the last position. */
    async sizes(sourceIds: string[]): Promise<BacklogSize[]> {
      return db
        .select({
          sourceId: sourceBacklog.sourceId,
          count: sql<number>`count(*)::integer`,
          bytes: sql<number>`sum(octet_length(body))::integer`,
          position: sql<number>`max(position)`,
        })
        .from(sourceBacklog)
        .where(inArray(sourceBacklog.sourceId, sourceIds))
        .groupBy(sourceBacklog.sourceId)
    },

    async insert(rows: Omit<BacklogRow, 'dueAt'>[]): Promise<void> {
      if (rows.length === 0) return
      await db.insert(sourceBacklog).values(rows.map((row) => ({ ...row, dueAt: databaseTime })))
    },

    /**
     * The oldest delivery of each active source, or of one, if it is due: no instance gets it again in the next `leaseMs`.
     */
    async claim({ leaseMs, limit, sourceId }: Claim): Promise<BacklogRow[]> {
      const isAsked = sourceId === undefined ? sql`true` : eq(sources.id, sourceId)
      const isDue = sql`due_at <= ${databaseTime}`
      return db
        .update(sourceBacklog)
        .set({ dueAt: inMs(leaseMs) })
        .where(
          sql`delivery_id in (
            select delivery_id from ${sourceBacklog} where ${isDue} and (source_id, position) in (
              select ${sources.id}, oldest.position from ${sources} cross join lateral (
                select position, due_at from ${sourceBacklog} where source_id = ${sources.id}
                order by position limit 1) as oldest
              where ${sources.isActive} and ${isAsked} and ${isDue} order by due_at limit ${limit})
            for update skip locked)`,
        )
        .returning()
    },

    /** Claims it for so much longer. */
    async postpone(deliveryId: string, ms: number): Promise<void> {
      await db
        .update(sourceBacklog)
        .set({ dueAt: inMs(ms) })
        .where(eq(sourceBacklog.deliveryId, deliveryId))
    },

    /** Removes a delivery from the list, too, in a transaction that stores it again with its outcome. */
    async take(deliveryId: string): Promise<DeliveryRow | undefined> {
      const taken = await db
        .delete(sourceBacklog)
        .where(eq(sourceBacklog.deliveryId, deliveryId))
        .returning({ deliveryId: sourceBacklog.deliveryId })
      if (taken.length === 0) return undefined
      const delivery = await store.find(deliveryId)
      await store.delete(deliveryId)
      return delivery
    },
  }
}

interface BacklogSize {
  sourceId: string
  count: number
  bytes: number
  position: number
}

interface Claim {
  leaseMs: number
  limit: number
  /** By default, those of any source. */
  sourceId?: string
}
