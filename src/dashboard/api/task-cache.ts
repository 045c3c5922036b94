import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'
import type { TaskFilters, TaskIdPage, TaskListItem } from './queries.ts'
import { recordsOf, type TaskRecords } from './task-records.ts'

type Pages = InfiniteData<TaskIdPage>

/** The rows of pages as they are shown. A task that moved while they were loaded may be in two: it is shown once. */
export function rowsIn(records: TaskRecords, pages: TaskIdPage[]): TaskListItem[] {
  const ids = new Set(pages.flatMap((page) => page.ids))
  return [...ids].flatMap((id) => records.row(id) ?? [])
}

/** The loaded pages of a list. */
export const pagesOf = (queryClient: QueryClient, filters: TaskFilters) =>
  queryClient.getQueryData<Pages>(['tasks', filters])?.pages

/** The active lists with their IDs. */
export const activeLists = (queryClient: QueryClient) =>
  queryClient.getQueriesData<Pages>({ queryKey: ['tasks'], type: 'active' }).map(([key, list]) => ({
    filters: key[1] as TaskFilters,
    ids: new Set(list?.pages.flatMap((page) => page.ids)),
  }))

/** The tasks of active lists that wait for one of these tasks. */
export function dependentsOf(queryClient: QueryClient, ids: ReadonlySet<string>): string[] {
  const records = recordsOf(queryClient)
  const listed = new Set(activeLists(queryClient).flatMap((list) => [...list.ids]))
  return [...listed].filter((id) => records.row(id)?.blockedBy.some((blocker) => ids.has(blocker)))
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
