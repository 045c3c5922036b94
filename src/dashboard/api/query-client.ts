import { QueryClient } from '@tanstack/react-query'
import { problemOf } from './problem.ts'

const isWorthTrying = (status: number) => status === 0 || status === 429 || status >= 500

/** What the page knows of the service. A region that fails says so itself, with a button to try again. */
export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      networkMode: 'always',
      retry: (count, error) => count < 3 && isWorthTrying(problemOf(error).status),
      retryDelay: (count, error) => (problemOf(error).retryAfterSeconds ?? Math.min(2 ** count, 2)) * 1_000,
    },
    mutations: { networkMode: 'always' },
  },
})
