import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from './client.ts'
import { problemOf } from './problem.ts'

export type Connection = Schema<'Connection'>

/** The connection of a project, or null. */
export const connectionQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['connection', projectId],
    queryFn: async (): Promise<Connection | null> => {
      try {
        return await dataOf(api.GET('/api/projects/{id}/codehost', { params: { path: { id: projectId } } }))
      } catch (error) {
        if (problemOf(error).status === 404) return null
        throw error
      }
    },
  })
