import { queryOptions } from '@tanstack/react-query'
import { fetchTaskPage, requestOf, type TaskFilters } from '../../api/queries.ts'

/** How many tasks match: exact up to 10,000. */
export const totalQuery = (filters: TaskFilters) =>
  queryOptions({
    queryKey: ['tasks-total', filters],
    queryFn: () => fetchTaskPage({ ...requestOf(filters), count: true, limit: 1 }),
    staleTime: 0,
  })
