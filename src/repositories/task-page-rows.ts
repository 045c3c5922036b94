import { and, type SQL, sql } from '../db/drizzle.ts'
import { projects } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'
import { isAmong, type Reach } from './reach.ts'
import type { FilterConditions } from './task-filters.ts'
import { utc } from './task-json.ts'
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

/** The value of the sort, and the id. */
export interface TaskPosition {
  key: string | number | null
  id: string
}

/** All columns, and the number of the transaction that wrote the row. */
const ROW = sql`*, xmin`

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
  return sql`select ${ROW} from ${tasks} where ${condition} ${inOrder(reached.place, page)}`
}

/** The rows of a page, of few tasks that an index has found. These are read first, by their ids, and then sorted. */
export function foundRowsOf(
  reached: ReachedPlace,
  { found, others, ...page }: PositionedPage & { found: SQL; others: SQL | undefined },
): SQL {
  return sql`select * from (select ${ROW} from ${tasks} where id = any(array(${found})) offset 0) as tasks
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
    select id, ${sortKey(page)} as key, version from (${found}) as tasks`)
  const [row] = rows
  return row && { id: row.id, key: sortValue(page, row.key) }
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
    (select ${ROW} from ${tasks} where ${reported} ${inOrder(reached.place, page)})
    union all
    (select ${ROW} from ${tasks} where ${unreported} ${inOrder(reached.place, byCreation)})
  ) as tasks ${inOrder(reached.place, page)}`
}

const LAST_ID = sql.raw(`'ffffffff-ffff-ffff-ffff-ffffffffffff'`)

/** The limit is no parameter: plans depend on it. */
const inOrder = (place: TaskPlace, page: Omit<TaskPageRequest, 'after'>): SQL =>
  sql`order by ${sql.join(orderOf(place, page), sql`, `)} limit ${sql.raw(String(page.limit))}`

/** The value of the sort of a row of `tasks`, as text. */
export const sortKey = ({ sortBy }: Pick<TaskPageRequest, 'sortBy'>): SQL => sql.raw(KEYS[sortBy])

/** The same as a position has it. */
export const sortValue = ({ sortBy }: Pick<TaskPageRequest, 'sortBy'>, key: string | null) =>
  sortBy === 'priority' || sortBy === 'reports' ? Number(key) : key

const KEYS = {
  created: 'null',
  opened: utc('opened_at'),
  updated: utc('updated_at'),
  deleted: utc('deleted_at'),
  priority: 'priority',
  reports: 'report_count',
}
