import { QueryCache, QueryClient } from '@tanstack/react-query'
import { problemOf } from './problem.ts'
import { recordsOf } from './task-records.ts'

const isRetryable = (status: number) => status === 0 || status === 429 || status >= 500

/** Each region shows its own error with a retry button, so there is no global error handler. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, query) {
      // What was loaded with more access is not shown any longer.
      if (problemOf(error).status !== 403) return
      query.setState({ data: undefined })
      const [kind, id] = query.queryKey
      if (kind === 'task') recordsOf(queryClient).forget(String(id))
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      networkMode: 'always',
      retry: (count, error) => count < 3 && isRetryable(problemOf(error).status),
      retryDelay: (count, error) => (problemOf(error).retryAfterSeconds ?? Math.min(2 ** count, 2)) * 1_000,
    },
    mutations: { networkMode: 'always' },
  },
})
