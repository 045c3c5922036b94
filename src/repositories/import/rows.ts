import { isInvalidData, violationOf } from '../../db/database-error.ts'
import { type NodePgDatabase, type SQL, sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { columnName, columnsOf } from '../export/columns.ts'
import { EXPORTED_TABLES, type ExportedTable } from '../export/tables.ts'
import { TEXTS_OF_TASK } from '../task-texts.ts'

/** Why the database refused a line. */
export interface LineRefusal {
  /** Which of the lines, from 0. */
  index: number
  reason: 'duplicate' | 'unknown_reference' | 'invalid'
  /** The rule that it violates, if it has a name. */
  constraint: string | undefined
}

/** Inserts the rows of these lines, which are JSON objects, or none; returns which one was refused. */
export async function insertLines(
  db: NodePgDatabase,
  { kind, lines }: { kind: string; lines: string[] },
): Promise<LineRefusal | undefined> {
  const refused = await attempt(db, { kind, lines })
  if (!refused) return undefined
  for (const [index, line] of lines.entries()) {
    const alone = await attempt(db, { kind, lines: [line] })
    if (alone) return { ...alone, index }
  }
  return { ...refused, index: 0 }
}

async function attempt(
  db: NodePgDatabase,
  { kind, lines }: { kind: string; lines: string[] },
): Promise<Omit<LineRefusal, 'index'> | undefined> {
  await db.execute(sql`savepoint lines`)
  try {
    await INSERTS.get(kind)?.(db, { rows: `[${lines.join()}]` })
    await db.execute(sql`release savepoint lines`)
    return undefined
  } catch (error) {
    if (!isInvalidData(error)) throw error
    await db.execute(sql`rollback to savepoint lines`)
    return violationOf(error)
  }
}

function insertOf(exported: ExportedTable): SQL {
  const { converted = {}, imported = {}, table, kind } = exported
  const columns = columnsOf(exported)
  const declared = columns.map(
    ({ member, sqlType }) => `"${member}" ${member in converted ? 'text' : sqlType}`,
  )
  const values = columns.map(({ member, defaultSql }) => {
    const value = converted[member]?.fromText ?? `"${member}"`
    return defaultSql === undefined ? value : `coalesce(${value}, ${defaultSql})`
  })
  const others = Object.entries(imported).map(([member, value]) => ({
    name: columnName(exported, member),
    value,
  }))
  const names = [...columns.map(({ name }) => name), ...others.map(({ name }) => name)]
  const insert = sql`
    insert into ${table} (${sql.raw(names.join(', '))})
    select ${sql.raw([...values, ...others.map(({ value }) => value)].join(', '))}
    from json_to_recordset(${sql.placeholder('rows')}::json) as record(${sql.raw(declared.join(', '))})`
  return kind === 'task' ? withTexts(insert) : insert
}

/** Indexed for search at once: the indexer would take 40 minutes for a million tasks, and searches are slow until then. */
const withTexts = (insert: SQL): SQL => sql`
  with inserted as (
    ${insert} returning id, title, description, external_id, labels, assignees
  )
  insert into task_texts (task_id, title, beginning, names) select id, ${TEXTS_OF_TASK} from inserted`

const INSERTS = new Map(
  EXPORTED_TABLES.map((exported) => [
    exported.kind,
    preparedStatement<object>(`import ${exported.kind}`, insertOf(exported)),
  ]),
)
