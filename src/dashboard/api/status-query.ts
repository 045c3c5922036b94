import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'
import type { paths } from './schema.gen.ts'

/** Changes of state come with the stream; counts and times only by asking again. */
const REFRESH_MS = 60_000

type Query = NonNullable<paths['/api/status']['get']['parameters']['query']>

/** Ways in and out, and how they do. */
export const statusQuery = (query: Query) =>
  queryOptions({
    queryKey: ['status', query],
    queryFn: () => dataOf(api.GET('/api/status', { params: { query } })),
    refetchInterval: REFRESH_MS,
  })

/** What could not be written to a repository last, with its task. */
export const lastFailedWriteQuery = (projectId: string) =>
  queryOptions({
    // Invalidated with the status, and as often.
    queryKey: ['status', 'failed-write', projectId],
    queryFn: async () => {
      const query = { projectId, type: ['task.write_back_failed'], limit: 1 }
      const { data } = await dataOf(api.GET('/api/activity', { params: { query } }))
      return data[0] ?? null
    },
    refetchInterval: REFRESH_MS,
  })
