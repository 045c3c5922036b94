import type { QueryClient } from '@tanstack/react-query'
import { invalidate } from '../../api/invalidate.ts'
import {
  comesBefore,
  continueList,
  dropTasks,
  insertTasks,
  isInLoadedRange,
} from '../../api/list-positions.ts'
import {
  cursorParam,
  DEFAULT_SORT,
  fetchTaskPage,
  requestOf,
  type TaskFilters,
  type TaskIdPage,
  type TaskListItem,
} from '../../api/queries.ts'
import { pagesOf } from '../../api/task-cache.ts'
import { recordsOf } from '../../api/task-records.ts'
import { OVERLAP_MS } from '../../live-updates/missed-activity.ts'
import type { ListCheck } from './list-effect.ts'

export { insertTasks }

const PAGE_SIZE = 200
const MAX_ARRIVALS = 50
/** A longer list is loaded again instead. */
const MAX_PAGES = 5

interface LoadedList {
  queryClient: QueryClient
  filters: TaskFilters
  pages: TaskIdPage[]
}

interface ListUpdate extends LoadedList {
  /** What the user has changed stays where it is. */
  ownIds: ReadonlySet<string>
  /** Found before, and not inserted yet. */
  pendingIds: string[]
}

/**
 * Asks the service which tasks of a list match now: it knows the filters best. Removes those that match no longer, and
 * returns those to insert. Loads a list again that is too long for that.
 * @throws Problem
 */
export async function updateList(check: ListCheck, list: ListUpdate): Promise<string[]> {
  const { queryClient, filters, ownIds, pendingIds } = list
  const records = recordsOf(queryClient)
  const changes = await askForChanges(check, list)
  if (!changes) {
    void invalidate(queryClient, { queryKey: ['tasks', filters] })
    return []
  }
  const gone = new Set(changes.gone)
  if (changes.continuation) continueList(queryClient, { filters, ...changes.continuation })
  const isFaded = (id: string) => records.row(id)?.status === 'done' && canFade(filters)
  const leaving = changes.gone.filter((id) => !ownIds.has(id) && !isFaded(id))
  if (leaving.length > 0) dropTasks(queryClient, { filters, ids: leaving })
  const pages = pagesOf(queryClient, filters) ?? []
  const listed = new Set(pages.flatMap(({ ids }) => ids))
  const candidates = new Set([...pendingIds.filter((id) => !gone.has(id)), ...changes.found])
  return [...candidates].filter((id) => {
    const task = records.row(id)
    return task && !listed.has(id) && isInLoadedRange(task, { records, pages, filters })
  })
}

/** Whether done tasks do not match, and are shown all the same until the list is loaded again. */
const canFade = ({ status }: TaskFilters) => status !== undefined && !status.includes('done')

interface ListChanges {
  /** Tasks that match. */
  found: string[]
  /** Tasks that match no longer. */
  gone: string[]
  /** What follows a list that had all tasks, and has them no longer. */
  continuation?: Continuation | undefined
}

interface Continuation {
  ids: string[]
  nextCursor: string
}

/** Undefined if the list is too long. */
async function askForChanges(check: ListCheck, list: LoadedList): Promise<ListChanges | undefined> {
  const receive = recordsOf(list.queryClient).request()
  const [arrived, changed] = await Promise.all([
    check.arrivals && !check.all ? fetchArrivals(list.filters) : [],
    check.changedIds.length > 0 && !check.all ? fetchChanged(check, list.filters) : [],
  ])
  const isRangeNeeded = check.all || changed === undefined || areTooManyToInsert(arrived, list)
  const range = isRangeNeeded ? await fetchRange(list) : undefined
  if (isRangeNeeded && !range) return undefined
  const tasks = [...arrived, ...(changed ?? []), ...(range?.tasks ?? [])]
  receive(tasks)
  const found = new Set(tasks.map(({ id }) => id))
  const missing = check.changedIds.filter((id) => !found.has(id))
  if (!range) return { found: [...found], gone: missing }
  return { found: [...found], gone: goneFrom(list, range), continuation: continuationOf(list, range) }
}

/** Whether there may be more new ones at the end of a list than were asked for. */
function areTooManyToInsert(arrived: TaskListItem[], list: LoadedList): boolean {
  const endId = endOf(list)
  return endId !== undefined && arrived.length === MAX_ARRIVALS && arrived.every(({ id }) => id > endId)
}

/** The last task of a list that has all, and gets new ones at its end. IDs are in the order of creation. */
function endOf({ filters, pages }: LoadedList): string | undefined {
  const hasAll = pages.at(-1)?.nextCursor === null
  return filters.sort === 'createdAt' && hasAll ? pages.flatMap(({ ids }) => ids).at(-1) : undefined
}

function continuationOf(list: LoadedList, { tasks, nextCursor }: Range): Continuation | undefined {
  const endId = endOf(list)
  if (endId === undefined || nextCursor === null) return undefined
  return { ids: tasks.map(({ id }) => id).filter((id) => id > endId), nextCursor }
}

const fetchArrivals = async (filters: TaskFilters) =>
  (await fetchTaskPage({ ...requestOf(filters), sort: '-createdAt', limit: MAX_ARRIVALS })).data

/** Undefined if there are too many. */
async function fetchChanged({ changedSince }: ListCheck, filters: TaskFilters) {
  const since = new Date(changedSince - OVERLAP_MS).toISOString()
  const { data, nextCursor } = await fetchTaskPage({
    ...requestOf(filters),
    sort: '-updatedAt',
    updatedSince: filters.updatedSince && filters.updatedSince > since ? filters.updatedSince : since,
    limit: PAGE_SIZE,
  })
  return nextCursor === null ? data : undefined
}

interface Range {
  tasks: TaskListItem[]
  /** Null if there are no more. */
  nextCursor: string | null
}

/** As many of the first tasks as are loaded, to the end of a list that has all; undefined if those are too many. */
async function fetchRange(list: LoadedList): Promise<Range | undefined> {
  const { filters, pages } = list
  const endId = endOf(list) ?? ''
  const count = pages.reduce((sum, { ids }) => sum + ids.length, 0)
  if (count > MAX_PAGES * PAGE_SIZE) return undefined
  const limit = Math.min(Math.max(count, MAX_ARRIVALS), PAGE_SIZE)
  const tasks: TaskListItem[] = []
  let cursor: string | undefined
  for (let request = 0; request < MAX_PAGES; request++) {
    const { data, nextCursor } = await fetchTaskPage({
      sort: DEFAULT_SORT,
      ...requestOf(filters),
      limit,
      ...cursorParam(cursor),
    })
    tasks.push(...data)
    const lastId = tasks.at(-1)?.id ?? ''
    if (nextCursor === null || (tasks.length >= count && lastId >= endId)) return { tasks, nextCursor }
    cursor = nextCursor
  }
  return undefined
}

/** The loaded tasks that should be in the range and are not. */
function goneFrom({ queryClient, filters, pages }: LoadedList, { tasks, nextCursor }: Range): string[] {
  const { sort = DEFAULT_SORT } = filters
  const records = recordsOf(queryClient)
  const found = new Set(tasks.map(({ id }) => id))
  const last = tasks.at(-1)
  return pages
    .flatMap(({ ids }) => ids)
    .filter((id) => {
      if (found.has(id)) return false
      const task = records.row(id)
      return nextCursor === null || (task && last && comesBefore({ sort, task, row: last }))
    })
}
