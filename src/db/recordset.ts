import { getTableColumns, type PgTable, type SQL, sql } from './drizzle.ts'

/**
 * Rows of a table as one JSON parameter. The statement's text is the same for one row and for a hundred, so it
 * can be prepared once and many creates can share it.
 */
export function recordset(table: PgTable, { leaveToDatabase = [] as string[] } = {}) {
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !leaveToDatabase.includes(name))
  const names = sql.raw(columns.map(([, column]) => `"${column.name}"`).join(', '))
  const types = sql.raw(columns.map(([, column]) => `"${column.name}" ${column.getSQLType()}`).join(', '))
  return {
    /** The columns' names, in one order everywhere. */
    names,
    /** `select` of the rows, typed as the table is. */
    select(rows: Record<string, unknown>[]): SQL {
      const records = rows.map((row) =>
        Object.fromEntries(columns.map(([property, column]) => [column.name, row[property]])),
      )
      return sql`select ${names} from json_to_recordset(${JSON.stringify(records)}::json) as record(${types})`
    },
  }
}
