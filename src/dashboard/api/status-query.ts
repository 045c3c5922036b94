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

/** What could not be written to a repository last, with its task. */
export const lastFailedWriteQuery = (projectId: string) =>
  queryOptions({
    // Invalidated with the status.
    queryKey: ['status', 'failed-write', projectId],
    queryFn: async () => {
      const query = { projectId, type: ['task.write_back_failed'], limit: 1 }
      const { data } = await dataOf(api.GET('/api/activity', { params: { query } }))
      return data[0] ?? null
    },
  })
