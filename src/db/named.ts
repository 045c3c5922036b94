import type { SQL } from './drizzle.ts'
import type { Database } from './pool.ts'

/**
 * Runs a statement under a name, so that PostgreSQL parses and plans it once a connection. Its text must be the same
 * each time. For statements whose plan does not hang on their values: PostgreSQL may keep one plan for all.
 */
export function executeNamed<T extends Record<string, unknown>>(
  db: Pick<Database, 'execute'>,
  name: string,
  statement: SQL,
): Promise<{ rows: T[] }> {
  const { session, dialect } = insideOf(db)
  return session.prepareQuery(dialect.sqlToQuery(statement), undefined, name, false).execute() as Promise<{
    rows: T[]
  }>
}

/** What drizzle's own `execute` does its work with, without a place for a name; its types hide both. */
function insideOf(db: Pick<Database, 'execute'>) {
  return db as unknown as {
    dialect: { sqlToQuery(statement: SQL): { sql: string; params: unknown[] } }
    session: {
      prepareQuery(
        query: { sql: string; params: unknown[] },
        fields: undefined,
        name: string,
        isArrayMode: false,
      ): { execute(): Promise<unknown> }
    }
  }
}
