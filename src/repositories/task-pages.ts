import { and, eq, gte, inArray, isNotNull, isNull, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import { type BoundedTaskRow, readBounded } from './bounded-tasks.ts'
import type { Executor, Reach } from './index.ts'
import type { TaskPlace } from './task-page-conditions.ts'
import {
  inOrder,
  readPlaceJson,
  readPortionJson,
  readRowsJson,
  readTaskJson,
  rowsOf,
  type TaskJson,
  type TaskPageJson,
  type TaskPortion,
} from './task-pages-json.ts'
import { contains, isFoundByText } from './task-texts.ts'
import type { TaskRow } from './tasks.ts'

export interface TaskFilter extends TaskPlace {
  projectId?: string | undefined
  listId?: string | undefined
  statuses?: TaskRow['status'][] | undefined
  sources?: TaskRow['source'][] | undefined
  priorities?: number[] | undefined
  labels?: string[] | undefined
  text?: string | undefined
  updatedSince?: Date | undefined
  openedSince?: Date | undefined
  codehostPrNumber?: number | undefined
  deletedSince?: Date | undefined
}

export interface TaskPageRequest {
  sortBy: 'created' | 'opened' | 'updated' | 'deleted' | 'priority' | 'reports'
  direction: 'ascending' | 'descending'
  /** The end of the previous page: the value of the sort (none where ids alone are the order) and the id. */
  after?: { key: string | number | null; id: string } | undefined
  limit: number
  isSummary: boolean
}

type Deleted = 'excluded' | 'only' | 'included'

export interface PortionOptions {
  deleted?: Deleted
  isSummary?: boolean
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
     * Reads a page of tasks as JSON text. Frequent text is found by scanning the next tasks in sort order, and so is any
     * text in a small project; other text is rare and found by the text index. At a million tasks, each is slow where the
     * other is fast.
     */
    async list({ text, ...filter }: TaskFilter, page: TaskPageRequest): Promise<TaskPageJson> {
      const others = and(...conditions(filter))
      const reached = { reach, place: filter }
      if (!text) {
        if (!others) return readPlaceJson(db, { ...reached, page })
        return readRowsJson(db, { page, rows: rowsOf(reached, { ...page, others }) })
      }
      const next = rowsOf(reached, { ...page, limit: maxScanned })
      const near = await readRowsJson(db, {
        page,
        rows: sql`select * from (${next}) as tasks where ${and(others, contains(text))} ${inOrder(reached, page)}`,
      })
      if (near.last) return near
      // Not the id: an index of another order has it, too, and sorting that seems cheaper.
      const beyond = await db.execute(sql`
        select version from (${rowsOf(reached, { ...page, limit: maxScanned + 1 })}) as tasks
        offset ${sql.raw(String(maxScanned))}`)
      if (beyond.rowCount === 0) return near
      return readRowsJson(db, {
        page,
        rows: rowsOf(reached, { ...page, others: and(others, isFoundByText(text)) }),
      })
    },

    /** Reads a task as JSON text. */
    findJson: (id: string): Promise<TaskJson | undefined> => readTaskJson(db, { reach, id }),

    /** Reads as many of these tasks as JSON text as fit in memory. */
    listPortion: (
      ids: string[],
      { deleted = 'excluded', isSummary = false }: PortionOptions = {},
    ): Promise<TaskPortion> =>
      readPortionJson(db, { ids, isSummary, condition: and(inReach, isListed(deleted)) }),

    /** Rows to decide a change on, in the order of the ids: as many as fit in memory. */
    async listByIds(ids: string[]): Promise<BoundedTaskRow[]> {
      const idList = sql`${sql.param(ids)}::uuid[]`
      const rows = db
        .select()
        .from(tasks)
        .where(and(sql`${tasks.id} = any(${idList})`, inReach, isNull(tasks.deletedAt)))
        .as('tasks')
      return readBounded(db, { rows, order: [sql`array_position(${idList}, ${tasks.id})`] })
    },
  }
}

const isListed = (deleted: Deleted): SQL | undefined =>
  ({ excluded: isNull(tasks.deletedAt), only: isNotNull(tasks.deletedAt), included: undefined })[deleted]

/** 85 ms at 14 µs each, with 540 characters. */
const MAX_SCANNED = 6_000

function conditions(filter: Omit<TaskFilter, 'text'>): (SQL | undefined)[] {
  return [
    filter.statuses && inArray(tasks.status, filter.statuses),
    filter.sources && inArray(tasks.source, filter.sources),
    filter.priorities && inArray(tasks.priority, filter.priorities),
    filter.labels && hasLabel(filter.labels),
    filter.updatedSince && gte(tasks.updatedAt, filter.updatedSince),
    filter.openedSince && gte(tasks.openedAt, filter.openedSince),
    filter.codehostPrNumber &&
      and(eq(tasks.codehostKind, 'pull_request'), eq(tasks.codehostNumber, filter.codehostPrNumber)),
  ].filter((condition) => typeof condition === 'object')
}

/** Has any of these labels, ignoring case, as the index on labels does. */
const hasLabel = (labels: string[]) =>
  sql`(${tasks.labels} <> '{}' and lower_names(${tasks.labels}) && lower_names(${sql.param(labels)}::text[]))`
