import { and, eq, getTableColumns, gte, inArray, isNotNull, isNull, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import { type BoundedTaskRow, briefColumns, readBounded, type SomeTasks } from './bounded-tasks.ts'
import type { Executor, Reach } from './index.ts'
import { isCandidate, orderOf, type TaskPlace } from './task-page-conditions.ts'
import { readPageJson, type TaskPageJson } from './task-pages-json.ts'
import { contains, isFoundByText } from './task-texts.ts'
import type { TaskRow } from './tasks.ts'

type Long = 'description' | 'notes' | 'metadata'
/** A row of a list: summaries have no long columns. */
export type TaskListRow = Omit<TaskRow, Long> &
  Partial<Pick<TaskRow, Long>> & {
    isLeftOut?: BoundedTaskRow['isLeftOut']
  }

export interface TaskFilter extends TaskPlace {
  projectId?: string | undefined
  listId?: string | undefined
  statuses?: TaskRow['status'][] | undefined
  sources?: TaskRow['source'][] | undefined
  priorities?: number[] | undefined
  labels?: string[] | undefined
  text?: string | undefined
  updatedSince?: Date | undefined
  codehostPrNumber?: number | undefined
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
      const order = orderOf({ reach, place: filter }, page)
      const read = (rows: SomeTasks) =>
        page.isSummary
          ? db
              .select(briefColumns)
              .from(rows)
              .orderBy(...order)
          : readBounded(db, { rows, order })
      const { limit } = page
      const isNext = isCandidate({ reach, place: filter }, page)
      const others = and(...conditions(filter))
      if (!text) {
        return read(
          db
            .select()
            .from(tasks)
            .where(and(isNext, others))
            .orderBy(...order)
            .limit(limit)
            .as('tasks'),
        )
      }
      const next = db
        .select()
        .from(tasks)
        .where(isNext)
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
      // Not the id: an index of another order has it, too, and sorting that seems cheaper.
      const beyond = await db
        .select({ version: tasks.version })
        .from(tasks)
        .where(isNext)
        .orderBy(...order)
        .offset(maxScanned)
        .limit(1)
      if (beyond.length === 0) return near
      return read(
        db
          .select()
          .from(tasks)
          .where(and(isNext, others, isFoundByText(text)))
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
}

/** 85 ms at 14 µs each, with 540 characters. */
const MAX_SCANNED = 6_000

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

/** Has any of these labels, ignoring case, as the index on labels does. */
const hasLabel = (labels: string[]) =>
  sql`(${tasks.labels} <> '{}' and lower_names(${tasks.labels}) && lower_names(${sql.param(labels)}::text[]))`
