import { type SQL, sql } from '../db/drizzle.ts'
import { named } from '../db/named.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor, Reach } from './index.ts'
import { taskJson, utc } from './task-json.ts'
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

/** What one reader of a page may make this process hold at once. */
const MAX_BYTES = 512 * 1024
/** Each is prepared by each connection. */
const MAX_STATEMENTS = 200

const statements = new Map<string, ReturnType<typeof named<PageRow>>>()

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
  const { sortBy, direction, after, limit, isSummary } = page
  const isNamed = projectId !== undefined || listId !== undefined || reach.projectId !== null
  const conditions = {
    reach: reach.projectId !== null && sql`project_id = ${sql.placeholder('reachId')}::uuid`,
    project: projectId !== undefined && sql`project_id = ${sql.placeholder('projectId')}::uuid`,
    list: listId !== undefined && sql`list_id = ${sql.placeholder('listId')}::uuid`,
    deleted: deletedSince
      ? sql`deleted_at > ${sql.placeholder('deletedSince')}::timestamptz`
      : sql`deleted_at is null`,
    archived: skipsArchived === true && !isNamed && NOT_ARCHIVED,
    after: after !== undefined && AFTER[sortBy](sql.raw(direction === 'ascending' ? '>' : '<')),
  }
  const present = Object.entries(conditions).filter(([, condition]) => condition !== false)
  const shape = [
    ...present.map(([name]) => name),
    deletedSince ? 'trash' : '',
    sortBy,
    direction,
    limit,
    isSummary,
  ]
  const name = `page ${shape.join(' ')}`
  let read = statements.get(name)
  if (!read) {
    if (statements.size >= MAX_STATEMENTS) return undefined
    const rows = sql`select * from ${tasks} where ${sql.join(
      present.map(([, condition]) => condition as SQL),
      sql` and `,
    )} order by ${orderOf(page)} limit ${sql.raw(String(limit))}`
    read = named<PageRow>(name, pageStatement(rows, page))
    statements.set(name, read)
  }
  const { rows } = await read(db, {
    ...(conditions.reach && { reachId: reach.projectId }),
    ...(conditions.project && { projectId }),
    ...(conditions.list && { listId }),
    ...(deletedSince && { deletedSince: deletedSince.toISOString() }),
    ...(after && { afterId: after.id, ...(sortBy !== 'created' && { afterKey: after.key }) }),
  })
  const [row] = rows
  const { items = null, lastId = null, lastKey = null } = row ?? {}
  if (lastId === null) return { items, last: null }
  return { items, last: { id: lastId, key: sortBy === 'priority' ? Number(lastKey) : lastKey } }
}

/** One row more than the page has tells whether another page follows. The limit is no parameter: plans depend on it. */
function pageStatement(rows: SQL, { sortBy, limit, isSummary }: TaskPageRequest): SQL {
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

const NOT_ARCHIVED = sql`project_id <> all(array(select id from projects where archived_at is not null))`

const afterRow = (key: string) => (than: SQL) =>
  sql`(${sql.raw(key)}, id) ${than} (${sql.placeholder('afterKey')}, ${sql.placeholder('afterId')}::uuid)`

/** Row comparisons: an index on the same columns starts the scan there. */
const AFTER: Record<TaskPageRequest['sortBy'], (than: SQL) => SQL> = {
  created: (than) => sql`id ${than} ${sql.placeholder('afterId')}::uuid`,
  updated: afterRow('updated_at'),
  deleted: afterRow('deleted_at'),
  priority: afterRow('priority'),
}

function orderOf({ sortBy, direction }: TaskPageRequest): SQL {
  const key = { created: [], updated: ['updated_at'], deleted: ['deleted_at'], priority: ['priority'] }[
    sortBy
  ]
  const words = direction === 'ascending' ? 'asc' : 'desc'
  return sql.raw([...key, 'id'].map((column) => `${column} ${words}`).join(', '))
}
