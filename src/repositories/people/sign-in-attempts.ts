import { and, eq, gt, lte, sql } from '../../db/drizzle.ts'
import { signInAttempts } from '../../db/tables/people.ts'
import type { Executor } from '../index.ts'

export type SignInAttemptRow = typeof signInAttempts.$inferSelect

const LIFETIME_MINUTES = 10
/** The instances' clocks may differ: only that of the database counts. */
const isLive = gt(signInAttempts.expiresAt, sql`clock_timestamp()`)
const isExpired = lte(signInAttempts.expiresAt, sql`clock_timestamp()`)

/** Sign-ins that were begun and not completed. */
export function signInAttemptsRepository(db: Executor) {
  return {
    /** Stores an attempt, which expires in ten minutes. */
    async insert(attempt: Omit<SignInAttemptRow, 'expiresAt'>): Promise<void> {
      const expiresAt = sql`clock_timestamp() + make_interval(mins => ${LIFETIME_MINUTES})`
      await db.insert(signInAttempts).values({ ...attempt, expiresAt })
    },

    /** Deletes an attempt and returns it: of several that complete it at once, one gets it. */
    async take(hash: string): Promise<SignInAttemptRow | undefined> {
      const [row] = await db
        .delete(signInAttempts)
        .where(and(eq(signInAttempts.hash, hash), isLive))
        .returning()
      return row
    },

    async deleteExpired(): Promise<void> {
      await db.delete(signInAttempts).where(isExpired)
    },

    async deleteOfUser(userId: string): Promise<void> {
      await db.delete(signInAttempts).where(eq(signInAttempts.userId, userId))
    },

    /** Deletes all. */
    async deleteAll(): Promise<void> {
      await db.delete(signInAttempts)
    },
  }
}
