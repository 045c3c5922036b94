import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../../api/client.ts'
import { cursorPagination, cursorParam, type TaskListItem } from '../../api/queries.ts'

export type SimilarTask = Schema<'SimilarTasks'>['data'][number]

export type ReportCounts = Schema<'ReportCounts'>

const MAX_SIMILAR = 10
const FRESH_MS = 5 * 60_000

let previous: Promise<unknown> = Promise.resolve()

/** The database reads much for each: rows ask one after another. */
function oneByOne<T>(send: () => Promise<T>): Promise<T> {
  const request = previous.then(send)
  previous = request.catch(() => {})
  return request
}

export const similarQuery = (id: string) =>
  queryOptions({
    queryKey: ['similar', id],
    queryFn: ({ signal }) =>
      oneByOne(() =>
        dataOf(
          api.GET('/api/tasks/{id}/similar', {
            params: { path: { id }, query: { limit: MAX_SIMILAR } },
            signal,
          }),
        ),
      ),
    staleTime: FRESH_MS,
  })

/** "7 similar". */
export const similarText = (count: number) => `${count}${count === MAX_SIMILAR ? '+' : ''} similar`

/** Read again when their number changes. */
export const reportsQuery = ({ id, reports }: Pick<TaskListItem, 'id' | 'reports'>) =>
  infiniteQueryOptions({
    queryKey: ['reports', id, reports],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/tasks/{id}/reports', {
          // All are counted, also those that are not loaded: once, with the first page.
          params: { path: { id }, query: { limit: 20, ...cursorParam(pageParam), count: !pageParam } },
        }),
      ),
    ...cursorPagination,
  })

/** Counts at most so many tasks, with their reports. */
const MAX_COUNTED = 100

/** What tasks and their reports have in common. Read again when there are more of them. */
export const reportCountsQuery = (tasks: Pick<TaskListItem, 'id' | 'reports'>[]) => {
  const id = tasks.slice(0, MAX_COUNTED).map((task) => task.id)
  const reports = tasks.reduce((sum, task) => sum + task.reports, 0)
  return queryOptions({
    queryKey: ['report-counts', id, reports],
    queryFn: ({ signal }) =>
      oneByOne(() => dataOf(api.GET('/api/tasks/report-counts', { params: { query: { id } }, signal }))),
    placeholderData: keepPreviousData,
    staleTime: FRESH_MS,
  })
}
