import { sql } from '../../db/drizzle.ts'

/**
 * The clock of the database, which all instances share: theirs may differ. In a subquery, so that it is read once for each
 * statement, and compared by an index; truncated, because a column would round it, half of the time into the future.
 */
export const databaseTime = sql`(select date_trunc('milliseconds', clock_timestamp()))`

/** So many milliseconds from now. */
export const inMs = (ms: number) => sql`${databaseTime} + ${ms} * interval '1 millisecond'`
