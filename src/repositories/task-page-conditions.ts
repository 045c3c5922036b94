import { type AnyColumn, and, asc, desc, gt, isNull, type Placeholder, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import { isWithin } from './ordered-by-index.ts'
import { isAmong, onlyProjectOf, type Reach, reaches } from './reach.ts'
import type { TaskPageRequest } from './task-pages.ts'
import { IS_IN_ACTIVE_PROJECT } from './task-readiness.ts'

/** Where the tasks of a page come from: what the indexes of the sort orders cover. Values may be placeholders. */
export interface TaskPlace {
  projectId?: string | Placeholder | SQL | undefined
  listId?: string | Placeholder | undefined
  /** Only the reports of this task. */
  mergedInto?: string | Placeholder | undefined
  /** Only tasks deleted after this time; if omitted, only tasks that are not deleted. */
  deletedSince?: Date | Placeholder | undefined
  /** Excludes tasks of archived projects, unless a project or list is given. */
  skipsArchived?: boolean | undefined
}

/** The position after which a page starts. Values may be placeholders. */
export interface Position {
  key: string | number | null | Placeholder
  id: string | Placeholder | SQL
}

type Sort = Pick<TaskPageRequest, 'sortBy' | 'direction'>
export type PositionedPage = Omit<TaskPageRequest, 'after'> & Range
/** The rows between two positions; the end is part of it. */
interface Range {
  after?: Position | undefined
  until?: Position | undefined
}

/** Where the candidates of a page are. */
export interface ReachedPlace<Place = TaskPlace> {
  /** The projects that the caller can read, as far as the place may be outside them; else null. */
  projectIds: readonly string[] | SQL | null
  place: Place
}

/** A place within a reach. All tasks of a reach of one project are those of the project. */
export function placeWithin<Place extends TaskPlace & { projectId?: string | undefined }>(
  reach: Reach,
  place: Place,
): ReachedPlace<Place> & Reach {
  const projectId = isNamed(place) ? place.projectId : (onlyProjectOf(reach) ?? undefined)
  const isReached = projectId !== undefined && reaches(reach, projectId)
  return { projectIds: isReached ? null : reach.projectIds, place: { ...place, projectId } }
}

/** Whether a place is a project, or within one. */
const isNamed = ({ projectId, listId, mergedInto }: TaskPlace): boolean =>
  [projectId, listId, mergedInto].some((id) => id !== undefined)

/** Whether a place is all projects of a reach that has several. */
export const isOfSeveral = ({ projectIds, place }: ReachedPlace): boolean =>
  projectIds !== null && !isNamed(place)

/** The tasks of a place that follow a position in the order of the page. */
export function isCandidate(
  { projectIds, place }: ReachedPlace,
  { after, until, ...sort }: Sort & Range,
): SQL | undefined {
  const { projectId, listId, mergedInto, deletedSince, skipsArchived } = place
  const prefix = prefixOf(place)
  // A list is in one project: its index is used alone.
  const isIn = (column: AnyColumn, value: string | Placeholder | SQL) =>
    column === prefix?.column ? isWithin(column, value) : sql`${column} is not distinct from ${value}`
  return and(
    projectIds === null ? undefined : opaque(isAmong(tasks.projectId, projectIds)),
    deletedSince
      ? gt(tasks.deletedAt, deletedSince)
      : hasPartialIndex(sort.sortBy, prefix)
        ? isNull(tasks.deletedAt)
        : opaque(isNull(tasks.deletedAt)),
    projectId === undefined ? undefined : isIn(tasks.projectId, projectId),
    listId === undefined ? undefined : isIn(tasks.listId, listId),
    mergedInto === undefined ? undefined : isIn(tasks.mergedInto, mergedInto),
    skipsArchived && !isNamed(place) ? sql.raw(IS_IN_ACTIVE_PROJECT) : undefined,
    after && compared(after, { ...sort, prefix, than: sort.direction === 'ascending' ? '>' : '<' }),
    until && compared(until, { ...sort, prefix, than: sort.direction === 'ascending' ? '<=' : '>=' }),
  )
}

/**
 * A condition of which the planner takes half of the rows to meet it, with statistics or without: it then reads rows in
 * their order until there are enough, instead of all that it expects to be few, and sorts them.
 */
export const opaque = (condition: SQL): SQL => sql`case when ${condition} then true else false end`

/** Those by id alone have deleted tasks as well. Without statistics the planner would prefer any other index, and sort. */
const hasPartialIndex = (sortBy: Sort['sortBy'], prefix: Prefix | undefined): boolean =>
  sortBy !== 'created' || prefix?.column === tasks.projectId || prefix?.column === tasks.mergedInto

/** Begins with the list, project or target, so that only the index of this place and sort returns rows in this order. */
export function orderOf(place: TaskPlace, { sortBy, direction }: Sort): SQL[] {
  const order = direction === 'ascending' ? asc : desc
  const key = SORT_KEYS[sortBy]
  const prefix = prefixOf(place)
  return [...(prefix ? [order(prefix.column)] : []), ...(key ? [order(key)] : []), order(tasks.id)]
}

/** The column that the index of a place begins with; none for all projects. */
function prefixOf({ projectId, listId, mergedInto }: TaskPlace): Prefix | undefined {
  if (mergedInto !== undefined) return { column: tasks.mergedInto, value: mergedInto }
  if (listId !== undefined) return { column: tasks.listId, value: listId }
  return projectId === undefined ? undefined : { column: tasks.projectId, value: projectId }
}

interface Prefix {
  column: AnyColumn
  value: string | Placeholder | SQL
}

const SORT_KEYS = {
  created: undefined,
  opened: tasks.openedAt,
  updated: tasks.updatedAt,
  deleted: tasks.deletedAt,
  priority: tasks.priority,
  reports: tasks.reportCount,
}
const KEY_TYPES = {
  opened: 'timestamptz',
  updated: 'timestamptz',
  deleted: 'timestamptz',
  priority: 'smallint',
  reports: 'integer',
}

/** A row comparison: an index on the same columns starts the scan there. */
function compared(
  { key, id }: Position,
  { sortBy, prefix, than }: Pick<Sort, 'sortBy'> & { prefix: Prefix | undefined; than: string },
): SQL {
  const position: [AnyColumn, SQL][] = [
    ...(prefix ? [[prefix.column, sql`${prefix.value}::uuid`] as [AnyColumn, SQL]] : []),
    ...(sortBy === 'created'
      ? []
      : [[SORT_KEYS[sortBy], sql`${key}::${sql.raw(KEY_TYPES[sortBy])}`] as [AnyColumn, SQL]]),
    [tasks.id, sql`${id}::uuid`],
  ]
  const columns = position.map(([column]) => sql`${column}`)
  const values = position.map(([, value]) => value)
  return sql`(${sql.join(columns, sql`, `)}) ${sql.raw(than)} (${sql.join(values, sql`, `)})`
}
