import { type PgTable, type SQL, sql } from '../../db/drizzle.ts'
import type { Executor } from '../index.ts'

/** A snapshot of the database: a transaction has committed before it, or not. */
export type Snapshot = string

export async function currentSnapshot(db: Executor): Promise<Snapshot> {
  const { rows } = await db.execute<{ snapshot: Snapshot }>(
    sql`select pg_current_snapshot()::text as snapshot`,
  )
  return rows[0]?.snapshot ?? ''
}

/**
 * Whether a row was changed after a snapshot. PostgreSQL stores the transaction that has written a row in 32 bits: its age
 * gives all 64. Times would not do, because a transaction commits after the time that it stores.
 */
export const isStoredSince = (table: PgTable, snapshot: Snapshot | undefined): SQL<boolean> =>
  snapshot === undefined
    ? sql<boolean>`false`
    : sql<boolean>`not pg_visible_in_snapshot(
        greatest(pg_current_xact_id()::text::bigint - age(${table}.xmin), 3)::text::xid8, ${snapshot}::pg_snapshot)`
