import { QueryCache, QueryClient } from '@tanstack/react-query'
import { problemOf } from './problem.ts'

const isRetryable = (status: number) => status === 0 || status === 429 || status >= 500

/** Each region shows its own error with a retry button, so there is no global error handler. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, query) {
      // What was loaded with more access is not shown any longer.
      if (problemOf(error).status === 403) query.setState({ data: undefined })
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
