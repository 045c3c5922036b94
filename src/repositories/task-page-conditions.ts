import { and, asc, desc, eq, gt, isNull, type Placeholder, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Reach } from './index.ts'
import type { TaskPageRequest } from './task-pages.ts'

/** Where the tasks of a page come from: what the indexes of the sort orders cover. Values may be placeholders. */
export interface TaskPlace {
  projectId?: string | Placeholder | undefined
  listId?: string | Placeholder | undefined
  /** Only tasks deleted after this time; if omitted, only tasks that are not deleted. */
  deletedSince?: Date | Placeholder | undefined
  /** Excludes tasks of archived projects, unless a project or list is given. */
  skipsArchived?: boolean | undefined
}

/** The position after which a page starts. Values may be placeholders. */
interface Position {
  key: string | number | null | Placeholder
  id: string | Placeholder
}

type Sort = Pick<TaskPageRequest, 'sortBy' | 'direction'>

/** The tasks of a place that follow a position in the order of the page. */
export function isCandidate(
  { reach, place }: { reach: { projectId: Reach['projectId'] | Placeholder }; place: TaskPlace },
  { after, ...sort }: Sort & { after?: Position | undefined },
): SQL | undefined {
  const { projectId, listId, deletedSince, skipsArchived } = place
  const isNamed = projectId !== undefined || listId !== undefined || reach.projectId !== null
  return and(
    reach.projectId === null ? undefined : eq(tasks.projectId, reach.projectId),
    deletedSince ? gt(tasks.deletedAt, deletedSince) : isNull(tasks.deletedAt),
    projectId === undefined ? undefined : eq(tasks.projectId, projectId),
    listId === undefined ? undefined : eq(tasks.listId, listId),
    skipsArchived && !isNamed ? NOT_ARCHIVED : undefined,
    after && isAfter(after, sort),
  )
}

export function orderOf({ sortBy, direction }: Sort): SQL[] {
  const order = direction === 'ascending' ? asc : desc
  const key = SORT_KEYS[sortBy]
  return [...(key ? [order(key)] : []), order(tasks.id)]
}

/** As an array, which is computed once: the index scan continues and skips these. */
const NOT_ARCHIVED = sql`${tasks.projectId} <> all(array(select id from projects where archived_at is not null))`

const SORT_KEYS = {
  created: undefined,
  updated: tasks.updatedAt,
  deleted: tasks.deletedAt,
  priority: tasks.priority,
}

/** A row comparison: an index on the same columns starts the scan there. */
function isAfter({ key, id }: Position, { sortBy, direction }: Sort): SQL {
  const than = sql.raw(direction === 'ascending' ? '>' : '<')
  switch (sortBy) {
    case 'created':
      return sql`${tasks.id} ${than} ${id}::uuid`
    case 'updated':
    case 'deleted':
      return sql`(${SORT_KEYS[sortBy]}, ${tasks.id}) ${than} (${key}::timestamptz, ${id}::uuid)`
    case 'priority':
      return sql`(${tasks.priority}, ${tasks.id}) ${than} (${key}::smallint, ${id}::uuid)`
  }
}
