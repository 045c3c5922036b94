import { type AnyColumn, and, eq, isNull, lt, or, type PgTable, type SQL } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

interface LastUsed<T extends PgTable> {
  table: T
  column: keyof T['$inferInsert'] & keyof T & string
  used: Map<string, Date>
  /** The stored form of a time. */
  timeOf?: (usedAt: Date) => Date | SQL
}

/**
 * Stores when each of these was last used. A stored time never decreases, and rows are locked in the same order
 * everywhere.
 */
export async function writeLastUsed<T extends PgTable & { id: AnyColumn }>(
  db: Executor,
  { table, column, used, timeOf = (usedAt) => usedAt }: LastUsed<T>,
): Promise<void> {
  const lastUsed = table[column] as AnyColumn
  for (const [id, usedAt] of [...used].sort()) {
    const time = timeOf(usedAt)
    await db
      .update(table)
      .set({ [column]: time } as T['$inferInsert'])
      .where(and(eq(table.id, id), or(isNull(lastUsed), lt(lastUsed, time))))
  }
}
