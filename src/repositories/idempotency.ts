import { isLockTimeout } from '../db/database-error.ts'
import { and, eq, getTableColumns, isNotNull, lt, sql } from '../db/drizzle.ts'
import { idempotencyKeys } from '../db/tables/access.ts'
import type { Executor } from './index.ts'

type IdempotencyRow = typeof idempotencyKeys.$inferSelect
/** A kept answer, and whether the request it belongs to is still at work on it. */
export type KeptRow = Omit<IdempotencyRow, 'body'> & { body: KeptBody; isPending: boolean }
/** A long body comes and goes in parts of UTF-8, each of whole characters on the way in. */
type KeptBody = IdempotencyRow['body'] | Buffer[]
type KeptAnswer = Pick<IdempotencyRow, 'status' | 'headers'> & { body: KeptBody }
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

  const find = async (claim: IdempotencyClaim): Promise<KeptRow | undefined> => {
    const [row] = await db
      .select({
        ...getTableColumns(idempotencyKeys),
        body: sql<string | null>`case when octet_length(body) <= ${LONG_BYTES} then body end`,
        isLong: sql<boolean>`coalesce(octet_length(body) > ${LONG_BYTES}, false)`,
        // By the database's clock: those of the instances may differ.
        isPending: sql<boolean>`coalesce(${idempotencyKeys.completesBy} > clock_timestamp(), false)`,
      })
      .from(idempotencyKeys)
      .where(isThe(claim))
    return row?.isLong ? { ...row, body: await longBody(claim) } : row
  }

  /** In rows of its parts: the driver reads each row in one go. */
  const longBody = async (claim: IdempotencyClaim): Promise<Buffer[]> => {
    const { rows } = await db.execute<{ part: Buffer }>(sql`
      select substr(bytes, start, ${PART_BYTES}) as part
      from (select convert_to(body, 'UTF8') as bytes from ${idempotencyKeys} where ${isThe(claim)} offset 0) as kept,
        generate_series(1, length(bytes), ${PART_BYTES}) as start
      order by start`)
    return rows.map(({ part }) => part)
  }

  const take = (claim: IdempotencyClaim) =>
    db
      .insert(idempotencyKeys)
      .values(claim)
      .onConflictDoNothing()
      .returning()
      .catch((error) => {
        if (isLockTimeout(error)) return 'in_progress' as const
        throw error
      })

  return {
    /**
     * Takes the key for this transaction. Waits while another one is at work with it, but not longer than that.
     * Answers the kept row when the key was used before.
     */
    async claim(
      claim: IdempotencyClaim,
      { deadlineMs, keptSince }: { deadlineMs: number; keptSince: Date },
    ): Promise<KeptRow | 'in_progress' | undefined> {
      await db.execute(sql`select set_config('lock_timeout', ${String(deadlineMs)}, true)`)
      // What is older has had its time, whether or not the sweep has come by.
      await db.delete(idempotencyKeys).where(and(isThe(claim), lt(idempotencyKeys.createdAt, keptSince)))
      for (;;) {
        const taken = await take(claim)
        if (taken === 'in_progress') return taken
        const kept = taken.length > 0 ? undefined : await find(claim)
        // Neither: the sweep took the old row in between.
        if (taken.length === 0 && !kept) continue
        await db.execute(sql`select set_config('lock_timeout', '0', true)`)
        return kept
      }
    },

    /** Writes the answer; with a time, it may be completed once more until then. */
    async keep(
      claim: IdempotencyClaim,
      { body, ...answer }: KeptAnswer,
      completesWithinMs?: number,
    ): Promise<void> {
      const completesBy =
        completesWithinMs === undefined
          ? null
          : sql`clock_timestamp() + make_interval(secs => ${completesWithinMs / 1_000})`
      const [first = null, ...others] = Array.isArray(body) ? body : [body]
      await db
        .update(idempotencyKeys)
        .set({ ...answer, body: sql`${first}::text`, completesBy })
        .where(isThe(claim))
      // A long one in statements of a bearable length: the driver writes each in one go.
      for (const part of others)
        await db
          .update(idempotencyKeys)
          .set({ body: sql`${idempotencyKeys.body} || ${part}::text` })
          .where(isThe(claim))
    },

    /** Puts the complete answer in the place of the kept one; without one, that stands. False when it stood already. */
    async complete(
      claim: IdempotencyClaim,
      answer?: Pick<IdempotencyRow, 'status' | 'headers' | 'body'>,
    ): Promise<boolean> {
      const rows = await db
        .update(idempotencyKeys)
        .set({ ...answer, completesBy: null })
        .where(and(isThe(claim), isNotNull(idempotencyKeys.completesBy)))
        .returning({ key: idempotencyKeys.key })
      return rows.length > 0
    },

    /** Gives the key back, as if it had not been used. */
    async release(claim: IdempotencyClaim): Promise<void> {
      await db.delete(idempotencyKeys).where(isThe(claim))
    },

    async deleteOlderThan(time: Date): Promise<void> {
      await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, time))
    },
  }
}

const LONG_BYTES = 1024 * 1024
const PART_BYTES = 256 * 1024
