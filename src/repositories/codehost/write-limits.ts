import { eq, sql } from '../../db/drizzle.ts'
import { codehostWriteLimits } from '../../db/tables/codehost-writes.ts'
import type { Executor } from '../index.ts'

/** Below what the code host allows, about 80 a minute and 500 an hour, because others write with the same token. */
const MAX_A_MINUTE = 20
const MAX_AN_HOUR = 400

/** Counts what is written with each token, for all instances. */
export function codehostWriteLimitsRepository(db: Executor) {
  const { sent, pausedUntil, tokenKey } = codehostWriteLimits
  const isFree = (now: Date) => sql`
    (select count(*) filter (where at > ${now.toISOString()}::timestamptz - interval '1 minute') < ${MAX_A_MINUTE}
      and count(*) filter (where at > ${now.toISOString()}::timestamptz - interval '1 hour') < ${MAX_AN_HOUR}
      from unnest(${sent}) as at)
    and (${pausedUntil} is null or ${pausedUntil} <= ${now.toISOString()})`

  return {
    /** Whether another write is allowed now. */
    async isFree(key: string, now: Date): Promise<boolean> {
      const [row] = await db
        .select({ isFree: sql<boolean>`${isFree(now)}` })
        .from(codehostWriteLimits)
        .where(eq(tokenKey, key))
      return row?.isFree ?? true
    },

    /** Counts a write that is about to be sent. Returns false if it is not allowed yet. */
    async reserve(key: string, now: Date): Promise<boolean> {
      const at = sql`${now.toISOString()}::timestamptz`
      const result = await db.execute(sql`
        insert into ${codehostWriteLimits} (token_key, sent) values (${key}, array[${at}])
        on conflict (token_key) do update set sent = array(
          select earlier from unnest(${sent}) as earlier where earlier > ${at} - interval '1 hour') || ${at}
        where ${isFree(now)}
        returning token_key`)
      return (result.rowCount ?? 0) > 0
    },

    /** Sends nothing with this token until then. */
    async pause(key: string, until: Date): Promise<void> {
      await db
        .insert(codehostWriteLimits)
        .values({ tokenKey: key, sent: [], pausedUntil: until })
        .onConflictDoUpdate({ target: tokenKey, set: { pausedUntil: until } })
    },
  }
}
