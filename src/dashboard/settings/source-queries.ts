import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { cursorPagination, cursorParam } from '../api/queries.ts'

export type Source = Schema<'Source'>
export type SourceWithSecret = Schema<'SourceWithSecret'>
export type SourcePreset = Schema<'SourcePreset'>
export type SourceTest = Schema<'SourceTest'>
export type TestResult = Schema<'SourceTestResult'>
export type Template = NonNullable<Schema<'SourceTemplate'>>

export const sourcesQuery = infiniteQueryOptions({
  queryKey: ['sources'],
  queryFn: ({ pageParam }) => dataOf(api.GET('/api/sources', { params: { query: cursorParam(pageParam) } })),
  ...cursorPagination,
})

export const sourceQuery = (id: string) =>
  queryOptions({
    queryKey: ['sources', id],
    queryFn: () => dataOf(api.GET('/api/sources/{id}', { params: { path: { id } } })),
    retry: false,
  })

export const presetsQuery = queryOptions({
  queryKey: ['source-presets'],
  queryFn: async () => (await dataOf(api.GET('/api/source-presets'))).data,
  staleTime: Number.POSITIVE_INFINITY,
})

/** The payload of the latest delivery, as text; empty if there is none, or not all of it. */
export const latestPayloadQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', { sourceId: id }, 'latest'],
    queryFn: async () => {
      const query = { sourceId: id, limit: 1 }
      const [latest] = (await dataOf(api.GET('/api/deliveries', { params: { query } }))).data
      if (!latest) return ''
      const params = { path: { id: latest.id } }
      const { payload, payloadCut } = await dataOf(api.GET('/api/deliveries/{id}', { params }))
      return payload === null || payloadCut ? '' : JSON.stringify(payload, null, 2)
    },
  })

/** What a payload would make with these templates. */
export const sourceTestQuery = (body: SourceTest | undefined) =>
  queryOptions({
    queryKey: ['source-test', body],
    queryFn: () => dataOf(api.POST('/api/sources/test', { body: body as SourceTest })),
    enabled: body !== undefined,
    // The task stays in sight while its templates are edited.
    placeholderData: (previous: TestResult | undefined) => previous,
    retry: false,
  })
