import { sql } from '../../db/drizzle.ts'
import type { Executor } from '../index.ts'

/**
 * The clock of the database, which all instances share: theirs may differ. In a subquery, so that it is read once for each
 * statement, and compared by an index; truncated, because a column would round it, half of the time into the future.
 */
export const databaseTime = sql`(select date_trunc('milliseconds', clock_timestamp()))`

/** The time of the database, to decide with it. */
export async function databaseNow(db: Executor): Promise<Date> {
  const { rows } = await db.execute<{ ms: number }>(
    sql`select extract(epoch from ${databaseTime})::float8 * 1000 as ms`,
  )
  return new Date(rows[0]?.ms ?? Number.NaN)
}

/** So many milliseconds from now. */
export const inMs = (ms: number) => sql`${databaseTime} + ${ms} * interval '1 millisecond'`
