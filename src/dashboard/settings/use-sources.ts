import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { fetchAllPages, pageQuery } from '../api/queries.ts'
import { useMe } from '../session/session.ts'

const NONE: Schema<'Source'>[] = []

/** All sources; none for those who may not see them. */
export function useSources(): Schema<'Source'>[] {
  const { can } = useMe()
  const { data = NONE } = useQuery({ ...everySourceQuery, enabled: can('admin') })
  return data
}

const everySourceQuery = queryOptions({
  queryKey: ['sources', 'every'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/sources', pageQuery(cursor)))),
})
