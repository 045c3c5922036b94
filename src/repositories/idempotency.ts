import { and, eq, lt, sql } from '../db/drizzle.ts'
import { isLockTimeout } from '../db/mistakes.ts'
import { idempotencyKeys } from '../db/tables.ts'
import type { Executor } from './index.ts'

export type IdempotencyRow = typeof idempotencyKeys.$inferSelect
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
      { patienceMs, keptSince }: { patienceMs: number; keptSince: Date },
    ): Promise<IdempotencyRow | 'in_progress' | undefined> {
      await db.execute(sql`select set_config('lock_timeout', ${String(patienceMs)}, true)`)
      // What is older has had its time, whether or not the sweep has come by.
      await db.delete(idempotencyKeys).where(and(isThe(claim), lt(idempotencyKeys.createdAt, keptSince)))
      for (;;) {
        const taken = await take(claim)
        if (taken === 'in_progress') return taken
        const [kept] = taken.length > 0 ? [] : await db.select().from(idempotencyKeys).where(isThe(claim))
        // Neither: the sweep took the old row in between.
        if (taken.length === 0 && !kept) continue
        await db.execute(sql`select set_config('lock_timeout', '0', true)`)
        return kept
      }
    },

    async keep(
      claim: IdempotencyClaim,
      answer: Pick<IdempotencyRow, 'status' | 'headers' | 'body'>,
    ): Promise<void> {
      await db.update(idempotencyKeys).set(answer).where(isThe(claim))
    },

    async deleteOlderThan(time: Date): Promise<void> {
      await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, time))
    },
  }
}
