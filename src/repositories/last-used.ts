import { type AnyColumn, and, eq, isNull, lt, or, type PgTable } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

/**
 * Stores when each of these was last used. A stored time never decreases, and rows are locked in the same order
 * everywhere.
 */
export async function writeLastUsed<T extends PgTable & { id: AnyColumn }>(
  db: Executor,
  {
    table,
    column,
    used,
  }: { table: T; column: keyof T['$inferInsert'] & keyof T & string; used: Map<string, Date> },
): Promise<void> {
  const lastUsed = table[column] as AnyColumn
  for (const [id, usedAt] of [...used].sort()) {
    await db
      .update(table)
      .set({ [column]: usedAt } as T['$inferInsert'])
      .where(and(eq(table.id, id), or(isNull(lastUsed), lt(lastUsed, usedAt))))
  }
}
