import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'

/** Changes of state come with the stream; counts and times only by asking again. */
const REFRESH_MS = 60_000

/** Every way in and out, and how it does. */
export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: async () => (await dataOf(api.GET('/api/status'))).data,
  refetchInterval: REFRESH_MS,
})
