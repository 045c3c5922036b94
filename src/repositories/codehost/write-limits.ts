import { and, eq, gt, sql } from '../../db/drizzle.ts'
import { codehostWriteLimits } from '../../db/tables/codehost-writes.ts'
import type { Executor } from '../index.ts'
import { leasesOf } from '../leases.ts'
import { databaseTime, inMs } from './database-time.ts'

/** Below what the code host allows, about 80 a minute and 500 an hour, because others write with the same token. */
const MAX_A_MINUTE = 20
const MAX_AN_HOUR = 400

/** Allows one worker to write with a token. */
export type TokenLease = Pick<typeof codehostWriteLimits.$inferSelect, 'tokenKey' | 'lease'>

/** What is written with each token, for all instances: one write at a time, and so many in an hour. */
export function codehostWriteLimitsRepository(db: Executor) {
  const { sent, pausedUntil } = codehostWriteLimits
  const leases = leasesOf(db, { table: codehostWriteLimits, key: 'tokenKey' })
  const mayWrite = sql`
    (select count(*) filter (where at > ${databaseTime} - interval '1 minute') < ${MAX_A_MINUTE}
      and count(*) filter (where at > ${databaseTime} - interval '1 hour') < ${MAX_AN_HOUR}
      from unnest(${sent}) as at)
    and (${pausedUntil} is null or ${pausedUntil} <= ${databaseTime})`

  return {
    /** Undefined if the token has to wait, or another worker has it: then without waiting for that one. */
    async take(tokenKey: string, leaseMs: number): Promise<TokenLease | undefined> {
      await db.insert(codehostWriteLimits).values({ tokenKey, sent: [] }).onConflictDoNothing()
      return leases.take({ where: and(eq(codehostWriteLimits.tokenKey, tokenKey), mayWrite), leaseMs })
    },

    renew: leases.renew,
    release: leases.release,

    /** Counts a write that is about to be sent, and extends the lease. Returns false if the lease is lost. */
    async reserve(lease: TokenLease, leaseMs: number): Promise<boolean> {
      const rows = await db
        .update(codehostWriteLimits)
        .set({
          sent: sql`array(select earlier from unnest(${sent}) as earlier
            where earlier > ${databaseTime} - interval '1 hour') || ${databaseTime}`,
          leaseUntil: inMs(leaseMs),
        })
        .where(and(leases.isOurs(lease), mayWrite))
        .returning({ lease: codehostWriteLimits.lease })
      return rows.length > 0
    },

    /** Sends nothing with this token for so long, or longer if that was known already. */
    async pause(tokenKey: string, forMs: number): Promise<void> {
      await db
        .insert(codehostWriteLimits)
        .values({ tokenKey, sent: [], pausedUntil: inMs(forMs) })
        .onConflictDoUpdate({
          target: codehostWriteLimits.tokenKey,
          set: { pausedUntil: sql`greatest(${pausedUntil}, excluded.paused_until)` },
        })
    },

    /** For how many milliseconds nothing may be sent with this token. */
    async pauseOf(tokenKey: string): Promise<number> {
      const remaining = sql<number>`ceil(extract(epoch from ${pausedUntil} - ${databaseTime}) * 1000)::float8`
      const [row] = await db
        .select({ ms: remaining })
        .from(codehostWriteLimits)
        .where(and(eq(codehostWriteLimits.tokenKey, tokenKey), gt(pausedUntil, databaseTime)))
      return row?.ms ?? 0
    },
  }
}
