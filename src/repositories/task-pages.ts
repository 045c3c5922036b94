import { and, isNull, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import { readTasksJson, type TaskReader, type TasksJson } from './cached-tasks.ts'
import { isReached } from './reach.ts'
import { comparedColumns } from './task-columns.ts'
import { conditionOf, type TaskFilter } from './task-filters.ts'
import { placeWithin } from './task-page-conditions.ts'
import { foundRowsOf, readPosition, rowsOf, type TaskPosition, walkedRowsOf } from './task-page-rows.ts'
import {
  readPlaceJson,
  readRowsJson,
  readTaskJson,
  type TaskJson,
  type TaskPageJson,
} from './task-pages-json.ts'
import { contains, foundByText, rarestWord } from './task-texts.ts'
import type { TaskRow } from './tasks.ts'

export interface TaskPageRequest {
  sortBy: 'created' | 'opened' | 'updated' | 'deleted' | 'priority' | 'reports'
  direction: 'ascending' | 'descending'
  /** The end of the previous page: the value of the sort (none where ids alone are the order) and the id. */
  after?: { key: string | number | null; id: string } | undefined
  limit: number
  isSummary: boolean
}

export interface SearchOptions {
  /** How many tasks are searched in sort order before the text index is used. */
  maxScanned?: number | undefined
  /** How many a page examines at most where no index helps. */
  maxExamined?: number | undefined
}

export interface TaskCount {
  count: number
  /** False if there may be more: no index helps, and only the first tasks were examined. */
  isExact: boolean
}

/** Reads pages of tasks: a part of the repository of tasks. */
export function taskPages(
  reader: TaskReader,
  { maxScanned = MAX_SCANNED, maxExamined = MAX_EXAMINED }: SearchOptions,
) {
  const { db, reach } = reader
  const inReach = isReached(tasks.projectId, reach)

  return {
    /**
     * Reads a page of tasks as JSON text. Words are found by reading all tasks of a small place, or of those that another
     * filter has found; by the text index if they are rare; else by reading the next tasks first, of which some have a
     * frequent word. At a million tasks, each is slow where the others are fast. Where no index helps, the page ends
     * after so many tasks, and the next one continues there.
     */
    async list({ words = [], ...filter }: TaskFilter, page: TaskPageRequest): Promise<TaskPageJson> {
      const reached = placeWithin(reach, filter)
      const { found, indexed, others } = await conditionOf(db, { ...reached, sortBy: page.sortBy })
      if (found) {
        const condition = and(others, words.length > 0 ? contains(words) : undefined)
        return readRowsJson(reader, {
          page,
          rows: foundRowsOf(reached, { ...page, found, others: condition }),
        })
      }
      if (words.length === 0) {
        if (!others) return readPlaceJson(reader, { ...reached, page })
        return readRowsJson(reader, { page, rows: rowsOf(reached, { ...page, indexed, others }) })
      }
      const walk = (options: { examined: number; until?: TaskPosition | undefined }) => {
        const condition = and(others, contains(words)) ?? sql`true`
        return readRowsJson(reader, {
          page,
          rows: walkedRowsOf(reached, { ...page, ...options, indexed, condition }),
        })
      }
      const isLarge = await readPosition(db, { reached, ...page, indexed, offset: maxScanned })
      const rarest = isLarge && (await rarestWord(db, words))
      const matches = rarest?.matches ?? Number.POSITIVE_INFINITY
      if (matches > MAX_RARE_MATCHES) {
        const examined = matches > MAX_INDEXED_MATCHES ? maxScanned : Math.min(maxScanned, MAX_TRIED)
        // Several projects are together not read further, either.
        const near = await walk({ examined, until: isLarge })
        if (!isLarge || near.last) return near
      }
      if (!rarest || matches > MAX_INDEXED_MATCHES) {
        // The end first: what is created or deleted meanwhile moves the others.
        const until = await readPosition(db, { reached, ...page, indexed, offset: maxExamined - 1 })
        const examined = 2 * maxExamined
        const near = await walk({ examined, until })
        return { ...near, last: near.last ?? until ?? null }
      }
      return readRowsJson(reader, {
        page,
        rows: foundRowsOf(reached, { ...page, found: foundByText(words, rarest.word), others }),
      })
    },

    /** The number of tasks, up to `max`. */
    async count({ words = [], ...filter }: TaskFilter, max: number): Promise<TaskCount> {
      const sortBy = filter.updatedSince ? 'updated' : filter.openedSince ? 'opened' : 'created'
      const reached = placeWithin(reach, filter)
      const { found, indexed, others } = await conditionOf(db, { ...reached, sortBy })
      const page = { ...UNSORTED, sortBy, limit: max } as const
      const condition = and(others, words.length > 0 ? contains(words) : undefined)
      if (found) return countOf(foundRowsOf(reached, { ...page, found, others: condition }))
      if (words.length === 0 || !condition) return countOf(rowsOf(reached, { ...page, indexed, others }))
      const isLarge = await readPosition(db, { reached, ...page, indexed, offset: maxScanned })
      const rarest = isLarge && (await rarestWord(db, words))
      if (rarest && rarest.matches <= MAX_INDEXED_COUNT)
        return countOf(foundRowsOf(reached, { ...page, found: foundByText(words, rarest.word), others }))
      const beyond = isLarge && (await readPosition(db, { reached, ...page, indexed, offset: maxExamined }))
      const counted = await countOf(
        walkedRowsOf(reached, { ...page, until: beyond, indexed, examined: maxExamined, condition }),
      )
      return { ...counted, isExact: counted.count >= max || !beyond }
    },

    /** Reads a task as JSON text. */
    findJson: (id: string): Promise<TaskJson | undefined> => readTaskJson(reader, id),

    /** Reads as many of these tasks as JSON text as a page has room for. */
    listJson: (ids: string[]): Promise<TasksJson> => readTasksJson(reader, ids),

    /** Without their long texts: see `comparedColumns`. */
    async listByIds(ids: string[]): Promise<TaskRow[]> {
      return db
        .select(comparedColumns([]))
        .from(tasks)
        .where(and(sql`${tasks.id} = any(${sql.param(ids)}::uuid[])`, inReach, isNull(tasks.deletedAt)))
    },
  }

  async function countOf(rows: SQL): Promise<TaskCount> {
    const { rows: counted } = await db.execute<{ count: number }>(
      sql`select count(*)::integer as count from (${rows}) as counted`,
    )
    return { count: counted[0]?.count ?? 0, isExact: true }
  }
}

/** Where only the number of rows matters. */
const UNSORTED = { direction: 'descending', isSummary: true } as const

/** 60 ms at 10 µs each, with 540 characters. */
const MAX_SCANNED = 6_000
const MAX_EXAMINED = 20_000
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
