import { type SQL, sql } from '../db/drizzle.ts'
import { preparedStatement } from '../db/prepared-statement.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor, Reach } from './index.ts'
import { taskJson, utc } from './task-json.ts'
import { isCandidate, orderOf } from './task-page-conditions.ts'
import type { TaskFilter, TaskPageRequest } from './task-pages.ts'

/** A page of tasks as JSON text, without the brackets around it. */
export interface TaskPageJson {
  /** Null if it has more than `MAX_BYTES`. */
  items: string | null
  /** The last item, if another page follows: the value of the sort and the id. */
  last: { key: string | number | null; id: string } | null
}

interface PageRow {
  items: string | null
  lastId: string | null
  lastKey: string | null
}

/** Memory of this process for one reader of a page. */
const MAX_BYTES = 512 * 1024
/** Each is prepared by each connection. */
const MAX_STATEMENTS = 200

const statements = new Map<string, ReturnType<typeof preparedStatement<PageRow>>>()

/**
 * Reads a page as JSON text, filtered by project, list, and trash alone: these have the same best plan for all values, so
 * each shape is prepared once.
 */
export async function readPageJson(
  db: Executor,
  { reach, filter, page }: { reach: Reach; filter: TaskFilter; page: TaskPageRequest },
): Promise<TaskPageJson | undefined> {
  const { projectId, listId, deletedSince, skipsArchived, ...others } = filter
  if (Object.values(others).some((value) => value !== undefined)) return undefined
  const { after, ...sort } = page
  const values = {
    ...(reach.projectId !== null && { reach: reach.projectId }),
    ...(projectId !== undefined && { projectId }),
    ...(listId !== undefined && { listId }),
    ...(deletedSince && { deletedSince }),
    ...(after && { afterId: after.id, ...(page.sortBy !== 'created' && { afterKey: after.key }) }),
  }
  const shape = { ...sort, skipsArchived, given: Object.keys(values) }
  const read = statementFor(shape)
  if (!read) return undefined
  const { rows } = await read(db, values)
  const [row] = rows
  const { items = null, lastId = null, lastKey = null } = row ?? {}
  if (lastId === null) return { items, last: null }
  return { items, last: { id: lastId, key: page.sortBy === 'priority' ? Number(lastKey) : lastKey } }
}

/** Everything that a statement depends on, except for values. */
interface PageShape extends Omit<TaskPageRequest, 'after'> {
  skipsArchived: boolean | undefined
  /** The names of the values that are given. */
  given: string[]
}

/** Undefined if there are too many. */
function statementFor(shape: PageShape) {
  const shapeKey = JSON.stringify(shape)
  const known = statements.get(shapeKey)
  if (known || statements.size >= MAX_STATEMENTS) return known
  const { given, skipsArchived, ...page } = shape
  const value = (name: string) => (given.includes(name) ? sql.placeholder(name) : undefined)
  const place = {
    projectId: value('projectId'),
    listId: value('listId'),
    deletedSince: value('deletedSince'),
    skipsArchived,
  }
  const afterId = value('afterId')
  const after = afterId && { id: afterId, key: sql.placeholder('afterKey') }
  const reached = { reach: { projectId: value('reach') ?? null }, place }
  const condition = isCandidate(reached, { ...page, after })
  const order = sql.join(orderOf(reached, page), sql`, `)
  // The limit is no parameter: plans depend on it.
  const limit = sql.raw(String(page.limit))
  const rows = sql`select * from ${tasks} where ${condition} order by ${order} limit ${limit}`
  // PostgreSQL tells names apart by their first 63 characters.
  const statement = preparedStatement<PageRow>(`page ${statements.size}`, pageStatement(rows, page))
  statements.set(shapeKey, statement)
  return statement
}

/** One row more than the page has tells whether another page follows. */
function pageStatement(rows: SQL, { sortBy, limit, isSummary }: Omit<TaskPageRequest, 'after'>): SQL {
  const size = sql.raw(String(limit - 1))
  return sql`
    with rows as materialized (${rows})
    select
      (select case when coalesce(sum(octet_length(json)), 0) <= ${sql.raw(String(MAX_BYTES))}
        then coalesce(string_agg(json, ','), '') end
        from (select ${taskJson({ isSummary })} as json from rows limit ${size}) as page) as items,
      last.id as "lastId", last.key as "lastKey"
    from (select) as one left join lateral (
      select id, ${sql.raw(KEYS[sortBy])} as key from rows offset ${sql.raw(String(limit - 2))} limit 1
    ) as last on exists (select from rows offset ${size})`
}

const KEYS = { created: 'null', updated: utc('updated_at'), deleted: utc('deleted_at'), priority: 'priority' }
