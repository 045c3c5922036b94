import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'

export interface OverviewScope {
  projectId: string | undefined
  weeks: number
}

/** The service counts anew within a minute. */
const REFRESH_MS = 60_000

/** What came in and what was closed in the last weeks. */
export const overviewQuery = (query: OverviewScope) =>
  queryOptions({
    queryKey: ['overview', query],
    queryFn: () => dataOf(api.GET('/api/overview', { params: { query } })),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })

/** How versions were received, and the problems that were reported most often, in the last weeks. */
export const feedbackOverviewQuery = (query: OverviewScope) =>
  queryOptions({
    queryKey: ['overview', 'feedback', query],
    queryFn: () => dataOf(api.GET('/api/overview/feedback', { params: { query } })),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
