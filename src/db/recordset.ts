import { getTableColumns, type PgTable, type SQL, sql } from './drizzle.ts'

/**
 * Rows of a table as one JSON parameter. The statement's text is the same for one row and for a hundred, so it can be
 * prepared once and shared by many creates.
 */
export function recordset(table: PgTable, { leaveToDatabase = [] as string[] } = {}) {
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !leaveToDatabase.includes(name))
  const listOf = (partOf: (name: string, column: (typeof columns)[number][1]) => string) =>
    sql.raw(columns.map(([name, column]) => partOf(name, column)).join(', '))
  const read = listOf((name) => `"${name}"`)
  const declared = listOf((name, column) => `"${name}" ${column.getSQLType()}`)
  return {
    /** The column names, always in the same order. */
    names: listOf((_, column) => `"${column.name}"`),
    /**
     * A `select` of the rows that meet a condition, from a placeholder: a JSON array of objects with the table's
     * members.
     */
    select: (placeholder: string, condition = sql`true`): SQL =>
      sql`select ${read} from json_to_recordset(${sql.placeholder(placeholder)}::json) as record(${declared}) where ${condition}`,
  }
}
