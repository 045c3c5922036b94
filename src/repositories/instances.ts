import { sql } from '../db/drizzle.ts'
import { KEY_LOCK, keyLockId, LISTENER } from '../db/listen.ts'
import type { Executor } from './index.ts'

/** The instances that are connected to the database: each has a connection that listens. */
export function instancesRepository(db: Executor) {
  const listeners = sql`
    pg_stat_activity where datname = current_database() and application_name = ${LISTENER}`

  return {
    async count(): Promise<number> {
      const { rows } = await db.execute<{ count: number }>(
        sql`select count(*)::int as count from ${listeners}`,
      )
      return rows[0]?.count ?? 0
    },

    /** Those that encrypt with another key than the one with this id, or with none. */
    async countBesides(keyId: string): Promise<number> {
      const { rows } = await db.execute<{ count: number }>(sql`
        select count(*)::int as count from ${listeners} and pid not in (
          select pid from pg_locks
          where locktype = 'advisory' and classid = ${KEY_LOCK}::oid and objid = ${keyLockId(keyId)}::oid and granted)`)
      return rows[0]?.count ?? 0
    },
  }
}
