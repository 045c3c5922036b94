import { and, type SQL, sql } from '../db/drizzle.ts'
import { opaqueArray, preparedStatement } from '../db/prepared-statement.ts'
import { projects } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import { MAX_PAGE_BYTES } from '../domain/cursor.ts'
import type { Executor } from './index.ts'
import { isAmong, isReachedBy, type Reach } from './reach.ts'
import type { FilterConditions } from './task-filters.ts'
import { jsonBytes, taskJson, taskJsonParts, utc } from './task-json.ts'
import {
  isCandidate,
  isOfSeveral,
  opaque,
  orderOf,
  type Position,
  type PositionedPage,
  type ReachedPlace,
  type TaskPlace,
} from './task-page-conditions.ts'
import type { TaskPageRequest } from './task-pages.ts'

/** A page of tasks as JSON text. */
export interface TaskPageJson {
  /** Separated by commas, without brackets. */
  items: string
  /** The last item, if another page follows. */
  last: TaskPosition | null
}

/** The value of the sort, and the id. */
export interface TaskPosition {
  key: string | number | null
  id: string
}

interface PageRow {
  items: string
  lastId: string | null
  lastKey: string | null
}

/** A task as JSON text. */
export interface TaskJson {
  json: string
  version: number
}

/** As many tasks as a page has room for. */
export interface TasksJson {
  /** As JSON text, by id. */
  items: Map<string, string>
  /** Those that there is no room for. */
  unread: Set<string>
}

/** Each is prepared by each connection. */
const MAX_STATEMENTS = 200

const statements = new Map<string, ReturnType<typeof preparedStatement<PageRow>>>()

/** Reads a page of a place. The best plan is the same for all values, so each shape is prepared once. */
export async function readPlaceJson(
  db: Executor,
  { projectIds, place, page }: ReachedPlace & Reach & { page: TaskPageRequest },
): Promise<TaskPageJson> {
  const { projectId, listId, mergedInto, deletedSince, skipsArchived } = place
  const { after, ...sort } = page
  const values = {
    ...(projectIds !== null && { reach: projectIds }),
    ...(projectId !== undefined && { projectId }),
    ...(listId !== undefined && { listId }),
    ...(mergedInto !== undefined && { mergedInto }),
    ...(deletedSince && { deletedSince }),
    ...(after && { afterId: after.id, ...(page.sortBy !== 'created' && { afterKey: after.key }) }),
  }
  const read = statementFor({ ...sort, skipsArchived, given: Object.keys(values) })
  if (!read) return readRowsJson(db, { page, rows: rowsOf({ projectIds, place }, page) })
  return pageOf(await read(db, values), page)
}

/** Reads a page of any rows of tasks that are in its order. */
export async function readRowsJson(
  db: Executor,
  { rows, page }: { rows: SQL; page: TaskPageRequest },
): Promise<TaskPageJson> {
  return pageOf(await db.execute<PageRow & Record<string, unknown>>(pageStatement(rows, page)), page)
}

/** What rows have to meet, as `conditionOf` says. */
type Conditions = Partial<Pick<FilterConditions, 'indexed' | 'others'>>

/** The rows of a page of a place, which further conditions may filter. */
export function rowsOf(
  reached: ReachedPlace,
  { indexed, others, ...page }: PositionedPage & Conditions,
): SQL {
  if (isOfSeveral(reached)) return rowsOfEach(reached, { ...page, indexed, others })
  if (page.sortBy === 'reports' && !reached.place.deletedSince)
    return rowsByReports(reached, { indexed, others, ...page })
  const condition = and(isCandidate(reached, page), indexed, others && opaque(others))
  return sql`select * from ${tasks} where ${condition} ${inOrder(reached.place, page)}`
}

/** The rows of a page, of few tasks that an index has found. These are read first, by their ids, and then sorted. */
export function foundRowsOf(
  reached: ReachedPlace,
  { found, others, ...page }: PositionedPage & { found: SQL; others: SQL | undefined },
): SQL {
  return sql`select * from (select * from ${tasks} where id = any(array(${found})) offset 0) as tasks
    where ${and(isCandidate(reached, page), others)} ${inOrder(reached.place, page)}`
}

/** The first tasks of a page's order that meet a condition, of so many. */
export function walkedRowsOf(
  reached: ReachedPlace,
  { examined, condition, indexed, ...page }: PositionedPage & Walk,
): SQL {
  return sql`select * from (${rowsOf(reached, { ...page, indexed, limit: examined })}) as tasks
    where ${condition} ${inOrder(reached.place, page)}`
}

interface Walk extends Pick<FilterConditions, 'indexed'> {
  /** How many rows are read at most. */
  examined: number
  condition: SQL
}

interface Offset {
  reached: ReachedPlace & Reach
  offset: number
}

/**
 * The position that so many rows of a page's order come before, or in several projects not more, and not less than the
 * share of one project; undefined if there are no more.
 */
export async function readPosition(
  db: Executor,
  { reached, offset, ...page }: PositionedPage & Pick<FilterConditions, 'indexed'> & Offset,
): Promise<TaskPosition | undefined> {
  const share = Math.floor(offset / (isOfSeveral(reached) ? reached.projectIds?.length || 1 : 1))
  const rowAt = (place: ReachedPlace) => sql`
    select * from (${rowsOf(place, { ...page, limit: share + 1 })}) as tasks offset ${sql.raw(String(share))}`
  const found = isOfSeveral(reached)
    ? sql`${ofEach(reached, rowAt)} ${inOrder(reached.place, { ...page, limit: 1 })}`
    : rowAt(reached)
  // Not the id alone: an index of another order has it, too, and sorting that seems cheaper.
  const { rows } = await db.execute<{ id: string; key: string | null; version: number }>(sql`
    select id, ${sql.raw(KEYS[page.sortBy])} as key, version from (${found}) as tasks`)
  const [row] = rows
  return row && { id: row.id, key: keyOf(page, row.key) }
}

/**
 * The rows of a page of several projects: as many of each as the page has, from the project's own index. An index of all
 * tasks would be read past those of other projects.
 */
const rowsOfEach = (reached: ReachedPlace, page: PositionedPage & Conditions): SQL =>
  sql`${ofEach(reached, (place) => rowsOf(place, page))} ${inOrder(reached.place, page)}`

/** The rows of each project of a reach. */
function ofEach(
  { projectIds, place: { skipsArchived, ...place } }: ReachedPlace,
  rowsOf: (place: ReachedPlace) => SQL,
): SQL {
  const condition = and(
    projectIds === null ? undefined : isAmong(sql`reached.id`, projectIds),
    skipsArchived ? sql`reached.archived_at is null` : undefined,
  )
  const rows = rowsOf({ projectIds: null, place: { ...place, projectId: sql`reached.id` } })
  return sql`select tasks.* from ${projects} as reached cross join lateral (${rows}) as tasks where ${condition}`
}

/**
 * Tasks with reports are few and have indexes; the others follow in the order of creation, which has its own. One index
 * for both would cost each insert.
 */
function rowsByReports(
  reached: ReachedPlace,
  { indexed, others, after, until, ...page }: PositionedPage & Conditions,
): SQL {
  const among = ({ key, id }: Position): Position => ({
    key: null,
    id: sql`(case when ${key}::integer = 0 then ${id}::uuid else ${LAST_ID}::uuid end)`,
  })
  const reported = and(
    isCandidate(reached, { ...page, after, until }),
    sql`${tasks.reportCount} > 0`,
    indexed,
    others && opaque(others),
  )
  const byCreation = { ...page, sortBy: 'created' as const }
  const unreported = and(
    isCandidate(reached, { ...byCreation, after: after && among(after), until: until && among(until) }),
    opaque(sql`${tasks.reportCount} = 0`),
    indexed,
    others && opaque(others),
  )
  return sql`select * from (
    (select * from ${tasks} where ${reported} ${inOrder(reached.place, page)})
    union all
    (select * from ${tasks} where ${unreported} ${inOrder(reached.place, byCreation)})
  ) as tasks ${inOrder(reached.place, page)}`
}

const LAST_ID = sql.raw(`'ffffffff-ffff-ffff-ffff-ffffffffffff'`)

/** The limit is no parameter: plans depend on it. */
const inOrder = (place: TaskPlace, page: Omit<TaskPageRequest, 'after'>): SQL =>
  sql`order by ${sql.join(orderOf(place, page), sql`, `)} limit ${sql.raw(String(page.limit))}`

/** As many of these tasks as a page has room for, in the order of the ids; at least the first that there is. */
export async function readTasksJson(
  db: Executor,
  { ids, condition }: { ids: string[]; condition: SQL | undefined },
): Promise<TasksJson> {
  const { opening, ending } = taskJsonParts({ isSummary: false })
  const bytes = jsonBytes({ isSummary: false })
  // With a limit, each is found by its id. Without statistics, a join reads all tasks that are not deleted.
  const { rows } = await db.execute<{ id: string; json: string | null }>(sql`
    select id, case when before < ${MAX_BYTES} then opening || ${ending} end as json
    from (
      select *, sum(${bytes}) over (order by place) - (${bytes}) as before
      from (
        select id, place, description, notes, ${opening} as opening
        from unnest(${sql.param(ids)}::uuid[]) with ordinality as listed (listed_id, place)
        cross join lateral (select * from ${tasks} where id = listed_id limit 1) as tasks
        where ${condition ?? sql`true`} offset 0
      ) as found
    ) as sized`)
  return {
    items: new Map(rows.flatMap(({ id, json }) => (json === null ? [] : [[id, json] as const]))),
    unread: new Set(rows.flatMap(({ id, json }) => (json === null ? [id] : []))),
  }
}

const findJson = preparedStatement<TaskJson>(
  'task',
  sql`
    select ${taskJson({ isSummary: false })} as json, version from ${tasks}
    where id = ${sql.placeholder('id')} and deleted_at is null
      and ${isReachedBy(tasks.projectId, sql.placeholder('reach'))}`,
)

/** Reads a task. */
export async function readTaskJson(
  db: Executor,
  { reach, id }: { reach: Reach; id: string },
): Promise<TaskJson | undefined> {
  const { rows } = await findJson(db, { id, reach: reach.projectIds })
  return rows[0]
}

function pageOf({ rows }: { rows: PageRow[] }, { sortBy }: Pick<TaskPageRequest, 'sortBy'>): TaskPageJson {
  const [row] = rows
  const { items = '', lastId = null, lastKey = null } = row ?? {}
  const last = lastId === null ? null : { id: lastId, key: keyOf({ sortBy }, lastKey) }
  return { items, last }
}

const keyOf = ({ sortBy }: Pick<TaskPageRequest, 'sortBy'>, key: string | null) =>
  sortBy === 'priority' || sortBy === 'reports' ? Number(key) : key

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
    mergedInto: value('mergedInto'),
    deletedSince: value('deletedSince'),
    skipsArchived,
  }
  const afterId = value('afterId')
  const after = afterId && { id: afterId, key: sql.placeholder('afterKey') }
  const projectIds = given.includes('reach') ? opaqueArray('reach', 'uuid') : null
  const rows = rowsOf({ projectIds, place }, { ...page, after })
  // PostgreSQL tells names apart by their first 63 characters.
  const statement = preparedStatement<PageRow>(`page of tasks #${statements.size}`, pageStatement(rows, page))
  statements.set(shapeKey, statement)
  return statement
}

/**
 * The items end with the one that brings them to the size of a page: texts that there is no room for are not read. One row
 * more than the page has tells whether another page follows.
 */
function pageStatement(rows: SQL, { sortBy, limit, isSummary }: Omit<TaskPageRequest, 'after'>): SQL {
  const { opening, ending } = taskJsonParts({ isSummary })
  const bytes = jsonBytes({ isSummary })
  return sql`
    with rows as materialized (${rows})
    select page.items, last.id as "lastId", last.key as "lastKey"
    from (
      select coalesce(string_agg(opening || ${ending}, ','), '') as items, count(*) as count
      from (
        select opening, description, notes, sum(${bytes}) over (rows unbounded preceding) - (${bytes}) as before
        from (
          select ${opening} as opening, description, notes from rows limit ${sql.raw(String(limit - 1))}
        ) as made
      ) as sized where before < ${MAX_BYTES}
    ) as page left join lateral (
      select id, ${sql.raw(KEYS[sortBy])} as key from rows offset greatest(page.count - 1, 0) limit 1
    ) as last on exists (select from rows offset page.count)`
}

const MAX_BYTES = sql.raw(String(MAX_PAGE_BYTES))

const KEYS = {
  created: 'null',
  opened: utc('opened_at'),
  updated: utc('updated_at'),
  deleted: utc('deleted_at'),
  priority: 'priority',
  reports: 'report_count',
}
