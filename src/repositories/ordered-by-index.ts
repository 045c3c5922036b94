import { type AnyColumn, type Placeholder, type SQL, sql } from '../db/drizzle.ts'

/**
 * Equal, as a range, for a column that the order of the rows begins with: only an index that begins with it has this order.
 * After an equality the planner drops the column from the order, and may read all rows in the order of their ids to find
 * the few of one project: a million for a project whose tasks are old.
 */
export const isWithin = (column: AnyColumn, value: string | Placeholder | SQL): SQL =>
  sql`${column} >= ${value} and ${column} <= ${value}`
