import { getTableColumns, type PgTable, type Placeholder, type SQL, sql } from './drizzle.ts'

/**
 * Rows of a table as one JSON parameter. The statement's text is the same for one row and for a hundred, so it
 * can be prepared once and many creates can share it.
 */
export function recordset(table: PgTable, { leaveToDatabase = [] as string[] } = {}) {
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !leaveToDatabase.includes(name))
  const listOf = (partOf: (name: string, column: (typeof columns)[number][1]) => string) =>
    sql.raw(columns.map(([name, column]) => partOf(name, column)).join(', '))
  const read = listOf((name) => `"${name}"`)
  const declared = listOf((name, column) => `"${name}" ${column.getSQLType()}`)
  return {
    /** The columns' names, in one order everywhere. */
    names: listOf((_, column) => `"${column.name}"`),
    /** `select` of the rows in a parameter, JSON of an array of them, whose members (of the table's names) meet a condition. */
    select: (rows: SQL | Placeholder, condition = sql`true`): SQL =>
      sql`select ${read} from json_to_recordset(${rows}::json) as record(${declared}) where ${condition}`,
  }
}
