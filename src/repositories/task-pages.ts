import { and, eq, isNotNull, isNull, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import { type BoundedTaskRow, readBounded } from './bounded-tasks.ts'
import type { Executor, Reach } from './index.ts'
import { conditionOf, type TaskFilter } from './task-filters.ts'
import { isCandidate, type PositionedPage, type ReachedPlace } from './task-page-conditions.ts'
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
import { contains, isFoundByText, rarestWord } from './task-texts.ts'

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
     * Reads a page of tasks as JSON text. Words are found by reading all tasks of a small place; by the text index if they
     * are rare; else by reading the next tasks first, of which some have a frequent word. At a million tasks, each is slow
     * where the others are fast.
     */
    async list({ words = [], ...filter }: TaskFilter, page: TaskPageRequest): Promise<TaskPageJson> {
      const others = await conditionOf(db, { reach, filter, isByCreation: page.sortBy === 'created' })
      const reached = { reach, place: filter }
      if (words.length === 0) {
        if (!others) return readPlaceJson(db, { ...reached, page })
        return readRowsJson(db, { page, rows: rowsOf(reached, { ...page, others }) })
      }
      const isSmall = !(await hasMoreThan(maxScanned, { reached, page }))
      const rarest = isSmall ? undefined : await rarestWord(db, words)
      const matches = rarest?.matches ?? Number.POSITIVE_INFINITY
      if (matches > MAX_RARE_MATCHES) {
        const limit = matches > MAX_INDEXED_MATCHES ? maxScanned : Math.min(maxScanned, MAX_TRIED)
        const condition = and(others, contains(words))
        const near = await readRowsJson(db, {
          page,
          rows: sql`select * from (${rowsOf(reached, { ...page, limit })}) as tasks
            where ${condition} ${inOrder(reached, page)}`,
        })
        if (isSmall || near.last) return near
      }
      const indexed = rarest && matches <= MAX_INDEXED_MATCHES ? [rarest.word] : undefined
      return readRowsJson(db, {
        page,
        rows: rowsOf(reached, { ...page, others: and(others, isFoundByText(words, indexed)) }),
      })
    },

    /** The number of tasks, up to `max`. */
    async count({ words = [], ...filter }: TaskFilter, max: number): Promise<number> {
      const others = await conditionOf(db, { reach, filter, isByCreation: true })
      const reached = { reach, place: filter }
      const limit = sql.raw(`limit ${max}`)
      const condition = and(isCandidate(reached, UNSORTED), others)
      if (words.length === 0) return countOf(sql`select from ${tasks} where ${condition} ${limit}`)
      const isSmall = !(await hasMoreThan(maxScanned, { reached, page: UNSORTED }))
      const rarest = isSmall ? undefined : await rarestWord(db, words)
      const isIndexed = rarest !== undefined && rarest.matches <= MAX_INDEXED_COUNT
      const isFound = isIndexed ? isFoundByText(words, [rarest.word]) : contains(words)
      return countOf(sql`select from ${tasks} where ${and(condition, isFound)} ${limit}`)
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

  /** Whether a place has more tasks after the start of the page. */
  async function hasMoreThan(
    count: number,
    { reached, page }: { reached: ReachedPlace; page: PositionedPage },
  ): Promise<boolean> {
    // Not the id: an index of another order has it, too, and sorting that seems cheaper.
    const beyond = await db.execute(sql`
      select version from (${rowsOf(reached, { ...page, limit: count + 1 })}) as tasks offset ${sql.raw(String(count))}`)
    return beyond.rowCount !== 0
  }

  async function countOf(rows: SQL): Promise<number> {
    const { rows: counted } = await db.execute<{ count: number }>(
      sql`select count(*)::integer as count from (${rows}) as counted`,
    )
    return counted[0]?.count ?? 0
  }
}

/** Where only the number of rows matters. */
const UNSORTED: PositionedPage = { sortBy: 'created', direction: 'descending', limit: 1, isSummary: true }

const isListed = (deleted: Deleted): SQL | undefined =>
  ({ excluded: isNull(tasks.deletedAt), only: isNotNull(tasks.deletedAt), included: undefined })[deleted]

/** 60 ms at 10 µs each, with 540 characters. */
const MAX_SCANNED = 6_000
/** Reading so many by the index takes about as long as a page of more frequent words takes by reading the next tasks. */
const MAX_INDEXED_MATCHES = 20_000
/**
 * The estimate is of a hundred texts: with one or two of them, a word can be in half a percent of the tasks or in five. The
 * index takes 36 ms for the first and 240 ms for the second, which these next tasks find in 15 ms.
 */
const MAX_RARE_MATCHES = 5_000
const MAX_TRIED = 1_500
/** The same for counting more tasks than a page has. */
const MAX_INDEXED_COUNT = 100_000
