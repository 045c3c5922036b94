import { getTableName, sql } from '../../db/drizzle.ts'
import type { Database } from '../../db/pool.ts'
import { changeFeed } from '../../db/tables/changes.ts'
import { columnJson } from '../task-json.ts'
import { columnsOf } from './columns.ts'
import { EXPORTED_TABLES, type ExportedTable } from './tables.ts'

/** The data as of one point in time. To be closed. */
export interface ExportSnapshot {
  /** Of the change feed. */
  epoch: string
  /** The lines of each kind in pieces, at the pace of the reader. */
  kinds: { kind: string; readLines(): AsyncGenerator<Buffer> }[]
  close(): Promise<void>
}

/** Reads everything that an export has, on a connection of its own. */
export function exportRepository(db: Pick<Database, 'openSession'>) {
  return {
    async openSnapshot(): Promise<ExportSnapshot> {
      const session = await db.openSession({ name: 'inlet export' })
      try {
        await session.db.execute(sql`begin isolation level repeatable read, read only`)
        // Most tables have an index in the order of their lines; sorting a million wide rows takes temporary files.
        await session.db.execute(sql`set local enable_sort = off`)
        // The first query decides what is visible.
        const [feed] = await session.db.select({ epoch: changeFeed.epoch }).from(changeFeed)
        return {
          epoch: feed?.epoch ?? '',
          kinds: EXPORTED_TABLES.map((exported) => ({
            kind: exported.kind,
            readLines: () => session.copyOut({ name: `export ${nameOf(exported)}`, text: copyOf(exported) }),
          })),
          close: session.close,
        }
      } catch (error) {
        await session.close()
        throw error
      }
    },
  }
}

/**
 * Writes the rows as lines. In the format csv a value without delimiter, quote and line break is written as it is; here
 * these are control characters, which JSON escapes.
 */
const copyOf = (exported: ExportedTable) => `
  copy (select ${lineOf(exported)} from ${nameOf(exported)} order by ${exported.order.join(', ')})
  to stdout (format csv, delimiter e'\\x01', quote e'\\x02')`

function lineOf(exported: ExportedTable): string {
  const members = columnsOf(exported).map((column) => {
    const value =
      exported.converted?.[column.member]?.toJson ??
      columnJson({ ...column, isEnum: column.values !== undefined })
    return `'"${column.member}":' || ${column.isNullable ? `coalesce(${value}, 'null')` : value}`
  })
  return `'{"kind":"${exported.kind}",' || ${members.join(` || ',' || `)} || '}'`.replaceAll(`' || '`, '')
}

export const nameOf = ({ table }: Pick<ExportedTable, 'table'>): string => getTableName(table)
