import { sql } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

/** The advisory lock of the instance that analyzes. */
const ANALYZE_LOCK = 7_461_011
/** A table with fewer rows is read quickly by any plan. */
const MIN_ROWS = 500
/** Each analysis of a large table takes half a second: the growth of a burst to a million rows takes seven. */
const GROWTH = 3

/** What PostgreSQL's planner knows of the tables. */
export function statisticsRepository(db: Executor) {
  return {
    /**
     * The table that has grown most since it was analyzed, or never was. Autovacuum analyzes it, too, but only after a
     * minute or, where that is turned off, never; until then the planner takes what every row has for what one in 200
     * has.
     */
    async findOutdated(): Promise<string | undefined> {
      const { rows } = await db.execute<{ name: string }>(sql`
        select relid::regclass::text as name from pg_stat_user_tables as counted join pg_class on pg_class.oid = relid
        where schemaname = current_schema() and (
          n_live_tup > ${MIN_ROWS} + ${GROWTH} * greatest(reltuples, 0)
          -- A dump that was restored: building its indexes has counted the rows.
          or greatest(n_live_tup, reltuples) > ${MIN_ROWS} and not exists (
            select from pg_stats where pg_stats.schemaname = current_schema() and tablename = counted.relname
          )
        )
        order by n_live_tup desc, relid limit 1`)
      return rows[0]?.name
    },

    /** Returns true if no other instance analyzes; this transaction then may. */
    async claimAnalyzing(): Promise<boolean> {
      const { rows } = await db.execute<{ isMine: boolean }>(
        sql`select pg_try_advisory_xact_lock(${ANALYZE_LOCK}) as "isMine"`,
      )
      return rows[0]?.isMine ?? false
    },

    /** Reads a sample of at most 30,000 rows. Does nothing while autovacuum works on the table. */
    async analyze(table: string): Promise<void> {
      await db.execute(sql.raw(`analyze (skip_locked) ${table}`))
    },
  }
}
