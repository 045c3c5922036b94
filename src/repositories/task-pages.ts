import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  type SQL,
  sql,
} from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import { type BoundedTaskRow, briefColumns, readBounded, type SomeTasks } from './bounded-tasks.ts'
import type { Executor, Reach } from './index.ts'
import { readPageJson, type TaskPageJson } from './task-pages-json.ts'
import { contains, isFoundByText } from './task-texts.ts'
import type { TaskRow } from './tasks.ts'

type Long = 'description' | 'notes' | 'metadata'
/** A row of a list: summaries have no long columns. */
export type TaskListRow = Omit<TaskRow, Long> &
  Partial<Pick<TaskRow, Long>> & {
    isLeftOut?: BoundedTaskRow['isLeftOut']
  }

export interface TaskFilter {
  projectId?: string | undefined
  listId?: string | undefined
  statuses?: TaskRow['status'][] | undefined
  sources?: TaskRow['source'][] | undefined
  priorities?: number[] | undefined
  labels?: string[] | undefined
  text?: string | undefined
  updatedSince?: Date | undefined
  codehostPrNumber?: number | undefined
  /** Excludes tasks of archived projects, unless a project or list is given. */
  skipsArchived?: boolean | undefined
  /** Only tasks deleted after this time; if omitted, only tasks that are not deleted. */
  deletedSince?: Date | undefined
}

export interface TaskPageRequest {
  sortBy: 'created' | 'updated' | 'deleted' | 'priority'
  direction: 'ascending' | 'descending'
  /** The end of the previous page: the value of the sort (none where ids alone are the order) and the id. */
  after?: { key: string | number | null; id: string } | undefined
  limit: number
  isSummary: boolean
}

interface ByIdsOptions {
  deleted?: 'excluded' | 'only' | 'included'
}

export interface SearchOptions {
  /** How many tasks are searched in sort order before the text index is used. */
  maxScanned?: number | undefined
}

/** Reads pages of tasks: a part of the repository of tasks. */
export function taskPages(
  db: Executor,
  { reach, maxScanned = MAX_SCANNED }: SearchOptions & { reach: Reach },
) {
  const inReach = reach.projectId === null ? undefined : eq(tasks.projectId, reach.projectId)

  return {
    /**
     * Reads a page of tasks. Frequent text is found by scanning the next tasks in sort order, and so is any text in a small
     * project; other text is rare and found by the text index. At a million tasks, each is slow where the other is fast.
     */
    async list({ text, ...filter }: TaskFilter, page: TaskPageRequest): Promise<TaskListRow[]> {
      const order = orderOf(page)
      const read = (rows: SomeTasks) =>
        page.isSummary
          ? db
              .select(briefColumns)
              .from(rows)
              .orderBy(...order)
          : readBounded(db, { rows, order })
      const { limit } = page
      const isCandidate = and(inReach, ...indexConditions(filter), archived(filter), after(page))
      const others = and(...conditions(filter))
      if (!text) {
        return read(
          db
            .select()
            .from(tasks)
            .where(and(isCandidate, others))
            .orderBy(...order)
            .limit(limit)
            .as('tasks'),
        )
      }
      const next = db
        .select()
        .from(tasks)
        .where(isCandidate)
        .orderBy(...order)
        .limit(maxScanned)
        .as('tasks')
      const near = await read(
        db
          .select(getTableColumns(tasks))
          .from(next)
          .where(and(others, contains(text)))
          .orderBy(...order)
          .limit(limit)
          .as('tasks'),
      )
      if (near.length === limit) return near
      const beyond = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(isCandidate)
        .orderBy(...order)
        .offset(maxScanned)
        .limit(1)
      if (beyond.length === 0) return near
      return read(
        db
          .select()
          .from(tasks)
          .where(and(isCandidate, others, isFoundByText(text)))
          .orderBy(...order)
          .limit(limit)
          .as('tasks'),
      )
    },

    /** Reads a page as JSON text. Undefined for filters that have to be planned for their values. */
    listJson: (filter: TaskFilter, page: TaskPageRequest): Promise<TaskPageJson | undefined> =>
      readPageJson(db, { reach, filter, page }),

    /** These tasks in the order of the ids, with the same limit as `list`. */
    async listByIds(ids: string[], { deleted = 'excluded' }: ByIdsOptions = {}): Promise<BoundedTaskRow[]> {
      const idList = sql`${sql.param(ids)}::uuid[]`
      const isListed = {
        excluded: isNull(tasks.deletedAt),
        only: isNotNull(tasks.deletedAt),
        included: undefined,
      }[deleted]
      const rows = db
        .select()
        .from(tasks)
        .where(and(sql`${tasks.id} = any(${idList})`, inReach, isListed))
        .as('tasks')
      return readBounded(db, { rows, order: [sql`array_position(${idList}, ${tasks.id})`] })
    },
  }

  /** As an array, which is computed once: the index scan continues and skips these. */
  function archived({ skipsArchived, projectId, listId }: TaskFilter): SQL | undefined {
    const isNamed = projectId !== undefined || listId !== undefined || reach.projectId !== null
    if (!skipsArchived || isNamed) return undefined
    return sql`${tasks.projectId} <> all(array(select id from projects where archived_at is not null))`
  }
}

/** 85 ms at 14 µs each, with 540 characters. */
const MAX_SCANNED = 6_000

/** The conditions that the indexes of the sort orders cover. */
function indexConditions({ deletedSince, ...filter }: TaskFilter): (SQL | undefined)[] {
  return [
    deletedSince ? gt(tasks.deletedAt, deletedSince) : isNull(tasks.deletedAt),
    filter.projectId === undefined ? undefined : eq(tasks.projectId, filter.projectId),
    filter.listId === undefined ? undefined : eq(tasks.listId, filter.listId),
  ]
}

function conditions(filter: Omit<TaskFilter, 'text'>): (SQL | undefined)[] {
  return [
    filter.statuses && inArray(tasks.status, filter.statuses),
    filter.sources && inArray(tasks.source, filter.sources),
    filter.priorities && inArray(tasks.priority, filter.priorities),
    filter.labels && hasLabel(filter.labels),
    filter.updatedSince && gte(tasks.updatedAt, filter.updatedSince),
    filter.codehostPrNumber &&
      and(eq(tasks.codehostKind, 'pull_request'), eq(tasks.codehostNumber, filter.codehostPrNumber)),
  ].filter((condition) => typeof condition === 'object')
}

function orderOf({ sortBy, direction }: TaskPageRequest): SQL[] {
  const order = direction === 'ascending' ? asc : desc
  const key = SORT_KEYS[sortBy]
  return [...(key ? [order(key)] : []), order(tasks.id)]
}

/** Has any of these labels, ignoring case, as the index on labels does. */
const hasLabel = (labels: string[]) =>
  sql`(${tasks.labels} <> '{}' and lower_names(${tasks.labels}) && lower_names(${sql.param(labels)}::text[]))`

const SORT_KEYS = {
  created: undefined,
  updated: tasks.updatedAt,
  deleted: tasks.deletedAt,
  priority: tasks.priority,
}

/** A row comparison: an index on the same columns starts the scan there. */
function after({ sortBy, direction, after }: TaskPageRequest): SQL | undefined {
  if (!after) return undefined
  const than = sql.raw(direction === 'ascending' ? '>' : '<')
  switch (sortBy) {
    case 'created':
      return sql`${tasks.id} ${than} ${after.id}::uuid`
    case 'updated':
    case 'deleted':
      return sql`(${SORT_KEYS[sortBy]}, ${tasks.id}) ${than} (${after.key}::timestamptz, ${after.id}::uuid)`
    case 'priority':
      return sql`(${tasks.priority}, ${tasks.id}) ${than} (${after.key}::smallint, ${after.id}::uuid)`
  }
}
