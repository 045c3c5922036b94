import type { SQL } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

/** Cast: for statements that always return one row. */
export async function oneRow<T extends object>(db: Executor, statement: SQL): Promise<T> {
  const { rows } = await db.execute<Record<string, unknown>>(statement)
  return rows[0] as T
}
