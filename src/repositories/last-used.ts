import { type AnyColumn, and, eq, isNull, lt, or, type PgTable } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

/**
 * Writes when each of these was last used. An older time never replaces a newer one, and all are locked in one order
 * everywhere.
 */
export async function writeLastUsed<T extends PgTable & { id: AnyColumn }>(
  db: Executor,
  table: T,
  column: keyof T['$inferInsert'] & keyof T & string,
  used: Map<string, Date>,
): Promise<void> {
  const lastUsed = table[column] as AnyColumn
  for (const [id, usedAt] of [...used].sort()) {
    await db
      .update(table)
      .set({ [column]: usedAt } as T['$inferInsert'])
      .where(and(eq(table.id, id), or(isNull(lastUsed), lt(lastUsed, usedAt))))
  }
}
