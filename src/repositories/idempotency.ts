import { isLockTimeout } from '../db/database-error.ts'
import { and, eq, getTableColumns, isNotNull, lt, sql } from '../db/drizzle.ts'
import { idempotencyKeys } from '../db/tables/access.ts'
import type { Executor } from './index.ts'

type IdempotencyRow = typeof idempotencyKeys.$inferSelect
/** A stored response, and whether its request is still in progress. */
export type StoredRow = IdempotencyRow & { isPending: boolean }
type NewResponse = Pick<IdempotencyRow, 'status' | 'headers' | 'body'>
export type IdempotencyClaim = Pick<
  IdempotencyRow,
  'callerId' | 'route' | 'key' | 'requestHash' | 'createdAt'
>

export function idempotencyRepository(db: Executor) {
  const isThe = ({ callerId, route, key }: IdempotencyClaim) =>
    and(
      eq(idempotencyKeys.callerId, callerId),
      eq(idempotencyKeys.route, route),
      eq(idempotencyKeys.key, key),
    )

  const find = async (claim: IdempotencyClaim): Promise<StoredRow | undefined> => {
    const [row] = await db
      .select({
        ...getTableColumns(idempotencyKeys),
        // By the database's clock: those of the instances may differ.
        isPending: sql<boolean>`coalesce(${idempotencyKeys.completesBy} > clock_timestamp(), false)`,
      })
      .from(idempotencyKeys)
      .where(isThe(claim))
    return row
  }

  const take = async (claim: IdempotencyClaim, keptSince: Date) => {
    try {
      // An older row has expired, whether or not the cleanup has deleted it.
      await db.delete(idempotencyKeys).where(and(isThe(claim), lt(idempotencyKeys.createdAt, keptSince)))
      return await db.insert(idempotencyKeys).values(claim).onConflictDoNothing().returning()
    } catch (error) {
      if (isLockTimeout(error)) return 'in_progress' as const
      throw error
    }
  }

  return {
    /**
     * Takes the key for this transaction. Waits while another one is at work with it, but not longer than that.
     * Returns the stored row when the key was used before.
     */
    async claim(
      claim: IdempotencyClaim,
      { deadlineMs, keptSince }: { deadlineMs: number; keptSince: Date },
    ): Promise<StoredRow | 'in_progress' | undefined> {
      await db.execute(sql`select set_config('lock_timeout', ${String(deadlineMs)}, true)`)
      for (;;) {
        const taken = await take(claim, keptSince)
        if (taken === 'in_progress') return taken
        const kept = taken.length > 0 ? undefined : await find(claim)
        // Neither: the cleanup deleted the old row in between.
        if (taken.length === 0 && !kept) continue
        await db.execute(sql`select set_config('lock_timeout', '0', true)`)
        return kept
      }
    },

    /** Stores the response. With a time, it may be completed once more until then. */
    async store(
      claim: IdempotencyClaim,
      { response, completesWithinMs }: { response: NewResponse; completesWithinMs?: number | undefined },
    ): Promise<void> {
      const completesBy =
        completesWithinMs === undefined
          ? null
          : sql`clock_timestamp() + make_interval(secs => ${completesWithinMs / 1_000})`
      await db
        .update(idempotencyKeys)
        .set({ ...response, completesBy })
        .where(isThe(claim))
    },

    /** Replaces the stored response by the complete one, if given. Returns false when it was complete already. */
    async complete(claim: IdempotencyClaim, response?: NewResponse): Promise<boolean> {
      const rows = await db
        .update(idempotencyKeys)
        .set({ ...response, completesBy: null })
        .where(and(isThe(claim), isNotNull(idempotencyKeys.completesBy)))
        .returning({ key: idempotencyKeys.key })
      return rows.length > 0
    },

    /** Releases the key, as if it had not been used. */
    async release(claim: IdempotencyClaim): Promise<void> {
      await db.delete(idempotencyKeys).where(isThe(claim))
    },

    async deleteOlderThan(time: Date): Promise<void> {
      await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, time))
    },
  }
}
