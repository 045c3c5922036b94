import type { QueryClient } from '@tanstack/react-query'
import {
  cursorParam,
  DEFAULT_SORT,
  fetchTaskPage,
  type TaskFilters,
  type TaskIdPage,
  type TaskListItem,
} from '../../api/queries.ts'
import { comesBefore } from '../../api/task-cache.ts'
import { recordsOf } from '../../api/task-records.ts'
import { OVERLAP_MS } from '../../live-updates/missed-activity.ts'

const PAGE_SIZE = 200
const MAX_ARRIVALS = 50
/** A longer list is loaded again instead. */
const MAX_PAGES = 5

/** What to ask the service about a list. */
export interface ListCheck {
  /** For tasks created since. */
  arrivals: boolean
  /** For all that it has loaded. */
  all: boolean
  /** For these, which changed since a time. */
  changedIds: string[]
  changedSince: number
}

export const NO_CHECK: ListCheck = {
  arrivals: false,
  all: false,
  changedIds: [],
  changedSince: Number.POSITIVE_INFINITY,
}

export const mergeChecks = (one: ListCheck, other: ListCheck): ListCheck => ({
  arrivals: one.arrivals || other.arrivals,
  all: one.all || other.all,
  changedIds: [...new Set([...one.changedIds, ...other.changedIds])],
  changedSince: Math.min(one.changedSince, other.changedSince),
})

interface LoadedList {
  queryClient: QueryClient
  filters: TaskFilters
  pages: TaskIdPage[]
}

export interface ListChanges {
  /** Tasks that match. */
  found: string[]
  /** Tasks that match no longer. */
  gone: string[]
}

/**
 * Asks the service which tasks of a list match now: it knows the filters best.
 * @throws Problem
 */
export async function checkList(check: ListCheck, list: LoadedList): Promise<ListChanges | 'too-long'> {
  const receive = recordsOf(list.queryClient).request()
  const [arrived, changed] = await Promise.all([
    check.arrivals && !check.all ? fetchArrivals(list.filters) : [],
    check.changedIds.length > 0 && !check.all ? fetchChanged(check, list.filters) : [],
  ])
  const range = check.all || changed === undefined ? await fetchRange(list) : undefined
  if ((check.all || changed === undefined) && !range) return 'too-long'
  const tasks = [...arrived, ...(changed ?? []), ...(range?.tasks ?? [])]
  receive(tasks)
  const found = new Set(tasks.map(({ id }) => id))
  const missing = check.changedIds.filter((id) => !found.has(id))
  return { found: [...found], gone: range ? goneFrom(list, range) : missing }
}

const fetchArrivals = async (filters: TaskFilters) =>
  (await fetchTaskPage({ ...filters, sort: '-createdAt', limit: MAX_ARRIVALS })).data

/** Undefined if there are too many. */
async function fetchChanged({ changedSince }: ListCheck, filters: TaskFilters) {
  const since = new Date(changedSince - OVERLAP_MS).toISOString()
  const { data, nextCursor } = await fetchTaskPage({
    ...filters,
    sort: '-updatedAt',
    updatedSince: filters.updatedSince && filters.updatedSince > since ? filters.updatedSince : since,
    limit: PAGE_SIZE,
  })
  return nextCursor === null ? data : undefined
}

interface Range {
  tasks: TaskListItem[]
  /** Whether there are no more. */
  isAll: boolean
}

/** As many of the first tasks as are loaded; undefined if those are too many. */
async function fetchRange({ filters, pages }: LoadedList): Promise<Range | undefined> {
  const count = pages.reduce((sum, { ids }) => sum + ids.length, 0)
  if (count > MAX_PAGES * PAGE_SIZE) return undefined
  const tasks: TaskListItem[] = []
  let cursor: string | undefined
  for (let request = 0; request < MAX_PAGES; request++) {
    const { data, nextCursor } = await fetchTaskPage({
      sort: DEFAULT_SORT,
      ...filters,
      limit: PAGE_SIZE,
      ...cursorParam(cursor),
    })
    tasks.push(...data)
    if (nextCursor === null) return { tasks, isAll: true }
    if (tasks.length >= count) return { tasks, isAll: false }
    cursor = nextCursor
  }
  return undefined
}

/** The loaded tasks that should be in the range and are not. */
function goneFrom({ queryClient, filters, pages }: LoadedList, { tasks, isAll }: Range): string[] {
  const { sort = DEFAULT_SORT } = filters
  const records = recordsOf(queryClient)
  const found = new Set(tasks.map(({ id }) => id))
  const last = tasks.at(-1)
  return pages
    .flatMap(({ ids }) => ids)
    .filter((id) => {
      if (found.has(id)) return false
      const task = records.row(id)
      return isAll || (task && last && comesBefore({ sort, task, row: last }))
    })
}
