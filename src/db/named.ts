import type { SQL } from './drizzle.ts'
import type { Database } from './pool.ts'

interface BuiltQuery {
  sql: string
  params: unknown[]
}

/**
 * A statement that is built once, and that PostgreSQL parses and plans once a connection, under this name; what changes
 * from one time to the next stands in it as placeholders. For statements whose plan does not hang on their values:
 * PostgreSQL may keep one plan for all.
 */
export function named<Row extends object>(name: string, statement: SQL) {
  let query: BuiltQuery | undefined
  return (db: Pick<Database, 'execute'>, values: Record<string, unknown>): Promise<{ rows: Row[] }> => {
    const { session, dialect } = insideOf(db)
    query ??= dialect.sqlToQuery(statement)
    return session.prepareQuery(query, undefined, name, false).execute(values) as Promise<{ rows: Row[] }>
  }
}

/** What drizzle's own `execute` does its work with, without a place for a name; its types hide both. */
function insideOf(db: Pick<Database, 'execute'>) {
  return db as unknown as {
    dialect: { sqlToQuery(statement: SQL): BuiltQuery }
    session: {
      prepareQuery(
        query: BuiltQuery,
        fields: undefined,
        name: string,
        isArrayMode: false,
      ): { execute(values: Record<string, unknown>): Promise<unknown> }
    }
  }
}
