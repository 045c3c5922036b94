import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'
import { DEFAULT_SORT, type TaskFilters, type TaskIdPage, type TaskListItem } from './queries.ts'
import { recordsOf, type TaskRecords } from './task-records.ts'

type Pages = InfiniteData<TaskIdPage>

/** The rows of pages as they are shown. A task that moved while they were loaded may be in two: it is shown once. */
export function rowsIn(records: TaskRecords, pages: TaskIdPage[]): TaskListItem[] {
  const ids = new Set(pages.flatMap((page) => page.ids))
  return [...ids].flatMap((id) => records.row(id) ?? [])
}

/** The active lists with their IDs. */
const activeLists = (queryClient: QueryClient) =>
  queryClient.getQueriesData<Pages>({ queryKey: ['tasks'], type: 'active' }).map(([key, list]) => ({
    filters: key[1] as TaskFilters,
    ids: new Set(list?.pages.flatMap((page) => page.ids)),
  }))

/** The active lists that contain each task, by task id. */
export function listsContaining(queryClient: QueryClient, ids: string[]): Map<string, TaskFilters[]> {
  const lists = activeLists(queryClient)
  return new Map(
    ids.map((id) => [id, lists.filter((list) => list.ids.has(id)).map(({ filters }) => filters)]),
  )
}

/** The tasks of active lists that wait for one of these tasks. */
export function dependentsOf(queryClient: QueryClient, ids: ReadonlySet<string>): string[] {
  const records = recordsOf(queryClient)
  const listed = new Set(activeLists(queryClient).flatMap((list) => [...list.ids]))
  return [...listed].filter((id) => records.row(id)?.blockedBy.some((blocker) => ids.has(blocker)))
}

interface ListChange {
  /** Of the list. */
  filters: TaskFilters
  ids: string[]
}

/** Inserts tasks at their sorted position in the loaded part of a list; tasks that it contains already are skipped. */
export function insertTasks(queryClient: QueryClient, { filters, ids }: ListChange) {
  const records = recordsOf(queryClient)
  changePages(queryClient, {
    filters,
    change(old) {
      const pages = old.map((page) => ({ ...page, ids: [...page.ids] }))
      const listed = new Set(pages.flatMap((page) => page.ids))
      for (const id of ids) {
        const task = records.row(id)
        const position = task && !listed.has(id) && findPosition(task, { records, pages, filters })
        if (position) position.page.ids.splice(position.index, 0, id)
      }
      return pages
    },
  })
}

/** Removes tasks from one list. */
export function dropTasks(queryClient: QueryClient, { filters, ids }: ListChange) {
  const dropped = new Set(ids)
  changePages(queryClient, {
    filters,
    change: (pages) => pages.map((page) => ({ ...page, ids: page.ids.filter((id) => !dropped.has(id)) })),
  })
}

interface PagesChange {
  filters: TaskFilters
  change(pages: TaskIdPage[]): TaskIdPage[]
}

function changePages(queryClient: QueryClient, { filters, change }: PagesChange) {
  queryClient.setQueriesData<Pages>(
    { queryKey: ['tasks', filters], exact: true, type: 'active' },
    (list) => list && { ...list, pages: change(list.pages) },
  )
}

/** Keeps only the first page of an inactive list: it renders at once, and one small request refreshes it. */
export async function trimList(queryClient: QueryClient, filters: TaskFilters) {
  const list = { queryKey: ['tasks', filters], exact: true }
  // In strict mode React remounts at once.
  await Promise.resolve()
  if (queryClient.getQueryCache().find(list)?.isActive()) return
  await queryClient.cancelQueries(list)
  queryClient.setQueryData<Pages>(
    list.queryKey,
    (cached) => cached && { pages: cached.pages.slice(0, 1), pageParams: cached.pageParams.slice(0, 1) },
  )
  await queryClient.invalidateQueries({ ...list, refetchType: 'none' })
  await forgetUnused(queryClient)
}

/** Keeps the records of tasks that a cached query has, or may be about to have. */
async function forgetUnused(queryClient: QueryClient) {
  const fetching = queryClient.getQueryCache().findAll({ fetchStatus: 'fetching', predicate: hasTasks })
  await Promise.allSettled(fetching.map((query) => query.fetch()))
  if (queryClient.isFetching({ predicate: hasTasks }) > 0) return
  const lists = queryClient.getQueriesData<Pages>({ queryKey: ['tasks'] })
  const tasks = queryClient.getQueryCache().findAll({ queryKey: ['task'] })
  recordsOf(queryClient).keep(
    new Set([
      ...lists.flatMap(([, list]) => list?.pages.flatMap(({ ids }) => ids) ?? []),
      ...tasks.map(({ queryKey }) => queryKey[1] as string),
    ]),
  )
}

const hasTasks = ({ queryKey }: Query) => ['tasks', 'task'].includes(String(queryKey[0]))

interface LoadedList {
  records: TaskRecords
  filters: TaskFilters
  pages: TaskIdPage[]
}

/** Whether the sorted position of a task is in the loaded part of a list. */
export const isInLoadedRange = (task: TaskListItem, list: LoadedList) =>
  findPosition(task, list) !== undefined

function findPosition(task: TaskListItem, { records, pages, filters: { sort = DEFAULT_SORT } }: LoadedList) {
  for (const page of pages) {
    const index = page.ids.findIndex((id) => {
      const row = records.row(id)
      return row && comesBefore({ sort, task, row })
    })
    if (index >= 0) return { page, index }
  }
  const last = pages.at(-1)
  return last && last.nextCursor === null ? { page: last, index: last.ids.length } : undefined
}

const RANKS = { low: 0, medium: 1, high: 2 }

interface Comparison {
  sort: NonNullable<TaskFilters['sort']>
  task: TaskListItem
  row: TaskListItem
}

/** The sort order of the service: by the field of `sort`, then by id. */
export function comesBefore({ sort, task, row }: Comparison): boolean {
  const isDescending = sort.startsWith('-')
  const [first, second] = isDescending ? [task, row] : [row, task]
  if (sort === '-priority' && task.priority !== row.priority)
    return RANKS[first.priority] > RANKS[second.priority]
  if (sort === '-reports' && task.reports !== row.reports) return first.reports > second.reports
  if (sort.endsWith('openedAt') && task.openedAt !== row.openedAt) return first.openedAt > second.openedAt
  if (sort.endsWith('updatedAt') && task.updatedAt !== row.updatedAt)
    return first.updatedAt > second.updatedAt
  return first.id > second.id
}
