import { isLockTimeout } from '../db/database-error.ts'
import { and, eq, getTableColumns, isNotNull, lt, sql } from '../db/drizzle.ts'
import { idempotencyKeys, idempotencyParts } from '../db/tables/access.ts'
import type { Executor } from './index.ts'

type IdempotencyRow = typeof idempotencyKeys.$inferSelect
/** A stored response, how many parts it has, and whether its request is still in progress. */
export type StoredRow = IdempotencyRow & { partCount: number; isPending: boolean }
interface NewResponse extends Pick<IdempotencyRow, 'status' | 'headers'> {
  /** A long body comes in parts; each is stored before the next one is produced. */
  body: string | AsyncIterable<string>
}
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
  const isPartOf = ({ callerId, route, key }: IdempotencyClaim) =>
    and(
      eq(idempotencyParts.callerId, callerId),
      eq(idempotencyParts.route, route),
      eq(idempotencyParts.key, key),
    )

  const find = async (claim: IdempotencyClaim): Promise<StoredRow | undefined> => {
    const [row] = await db
      .select({
        ...getTableColumns(idempotencyKeys),
        partCount: sql<number>`(select count(*)::integer from ${idempotencyParts} where ${isPartOf(claim)})`,
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

    /** Stores the response, and returns its number of parts. With a time, it may be completed once more until then. */
    async store(
      claim: IdempotencyClaim,
      {
        response: { body, ...response },
        completesWithinMs,
      }: { response: NewResponse; completesWithinMs?: number | undefined },
    ): Promise<number> {
      const completesBy =
        completesWithinMs === undefined
          ? null
          : sql`clock_timestamp() + make_interval(secs => ${completesWithinMs / 1_000})`
      await db
        .update(idempotencyKeys)
        .set({ ...response, body: typeof body === 'string' ? body : null, completesBy })
        .where(isThe(claim))
      if (typeof body === 'string') return 0
      const { callerId, route, key } = claim
      let number = 0
      for await (const text of body) {
        await db.insert(idempotencyParts).values({ callerId, route, key, number: number++, text })
      }
      return number
    },

    /** Returns one part of a stored response; undefined when that response is no longer stored. */
    async findPart(claim: IdempotencyClaim, number: number): Promise<string | undefined> {
      const [row] = await db
        .select({ text: idempotencyParts.text })
        .from(idempotencyParts)
        .innerJoin(idempotencyKeys, isThe(claim))
        // After it expired, the key may have been used for another request.
        .where(
          and(
            isPartOf(claim),
            eq(idempotencyParts.number, number),
            eq(idempotencyKeys.createdAt, claim.createdAt),
          ),
        )
      return row?.text
    },

    /** Replaces the stored response by the complete one, if given. Returns false when it was complete already. */
    async complete(
      claim: IdempotencyClaim,
      response?: Pick<IdempotencyRow, 'status' | 'headers' | 'body'>,
    ): Promise<boolean> {
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
