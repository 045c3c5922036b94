import { getTableColumns } from '../../db/drizzle.ts'
import type { FieldType } from '../../domain/import-fields.ts'
import type { ExportedTable } from './tables.ts'

/** A column as a line has it. */
export interface ExportedColumn {
  /** The member of the line. */
  member: string
  /** The column's name in SQL. */
  name: string
  sqlType: string
  type: FieldType
  /** The only values that it may have. */
  values: readonly string[] | undefined
  isNullable: boolean
  /** What a line without this member stands for. */
  defaultSql: string | undefined
}

/** The columns of the lines of a table, in their order. */
export function columnsOf({ table, omitted = {}, converted = {} }: ExportedTable): ExportedColumn[] {
  return Object.entries(getTableColumns(table))
    .filter(([member]) => !(member in omitted))
    .map(([member, column]) => {
      const values = converted[member]?.values ?? column.enumValues
      const sqlType = column.getSQLType()
      return {
        member,
        name: `"${column.name}"`,
        sqlType,
        type: member in converted ? 'text' : typeOf(sqlType),
        values,
        isNullable: !column.notNull,
        defaultSql: column.notNull && column.hasDefault ? literal(column.default, sqlType) : undefined,
      }
    })
}

/** The name of a column that is omitted. */
export function columnName({ table }: Pick<ExportedTable, 'table'>, member: string): string {
  const column = getTableColumns(table)[member]
  if (!column) throw new Error(`The table has no column for ${member}.`)
  return column.name
}

function typeOf(sqlType: string): FieldType {
  const type = TYPES[sqlType] ?? (sqlType.startsWith('timestamp') ? 'time' : undefined)
  if (!type) throw new Error(`A column of type ${sqlType} can't be exported.`)
  return type
}

const TYPES: Record<string, FieldType> = {
  uuid: 'uuid',
  text: 'text',
  boolean: 'boolean',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  'double precision': 'number',
  jsonb: 'json',
  'uuid[]': 'uuids',
  'text[]': 'texts',
}

/** Drizzle keeps defaults as values, and those of SQL as an object: of these, all are empty arrays or the present time. */
function literal(value: unknown, sqlType: string): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return sqlType.endsWith('[]') ? `'{}'` : 'now()'
}
