import { type SQL, sql } from './drizzle.ts'
import type { Database } from './pool.ts'

interface BuiltQuery {
  sql: string
  params: unknown[]
}

/**
 * A prepared statement, built once; each connection parses and plans it once under this name. Values are passed as
 * placeholders. Only for statements whose best plan does not depend on the values: PostgreSQL may keep a generic plan.
 */
export function preparedStatement<Row extends object>(name: string, statement: SQL) {
  let query: BuiltQuery | undefined
  return async (db: Pick<Database, 'execute'>, values: Record<string, unknown>): Promise<{ rows: Row[] }> => {
    const { session, dialect } = insideOf(db)
    query ??= dialect.sqlToQuery(statement)
    const result = await session.prepareQuery(query, undefined, name, false).execute(values)
    return result as { rows: Row[] }
  }
}

/**
 * An array of which the planner never knows the value. PostgreSQL keeps one plan for all values if it expects about the
 * same of each; of an unknown array it expects ten items, so for shorter ones it would plan the statement each time.
 */
export const opaqueArray = (placeholder: string, type: string): SQL =>
  sql`(select ${sql.placeholder(placeholder)}::${sql.raw(type)}[])::${sql.raw(type)}[]`

/** The internals of drizzle's `execute`, which accepts no name; drizzle's types hide both members. */
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
