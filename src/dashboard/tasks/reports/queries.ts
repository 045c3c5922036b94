import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../../api/client.ts'
import { cursorPagination, cursorParam, type TaskListItem } from '../../api/queries.ts'
import { sumOf } from '../../lib/sum.ts'
import { countsOfTask } from './counts-of-task.ts'
import { countsTogether } from './counts-together.ts'

export type SimilarTask = Schema<'SimilarTasks'>['data'][number]

export type ReportCounts = Schema<'ReportCounts'>

const MAX_SIMILAR = 10
const FRESH_MS = 5 * 60_000

export const similarQuery = (id: string) =>
  queryOptions({
    queryKey: ['similar', id],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/tasks/{id}/similar', {
          params: { path: { id }, query: { limit: MAX_SIMILAR } },
          signal,
        }),
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

/** Of the tasks of one row. */
const MAX_COUNTED = 100

/** What tasks and their reports have in common. Read again when there are more of them. */
export const reportCountsQuery = (tasks: Pick<TaskListItem, 'id' | 'reports'>[]) => {
  const id = tasks.slice(0, MAX_COUNTED).map((task) => task.id)
  const reports = sumOf(tasks.map((task) => task.reports))
  return queryOptions({
    queryKey: ['report-counts', id, reports],
    queryFn: async () => countsTogether(await Promise.all(id.map(countsOfTask))),
    placeholderData: keepPreviousData,
    staleTime: FRESH_MS,
  })
}
