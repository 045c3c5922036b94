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
      return payloadText(await dataOf(api.GET('/api/deliveries/{id}', { params }))) ?? ''
    },
  })

/** A payload to write templates for. Its version stands for it in the key of a query: it may be large. */
export interface Example {
  payload: unknown
  version: number
}

/** What an example would make with these templates. */
export const sourceTestQuery = (source: SourceTest['source'], example: Example | undefined) =>
  queryOptions({
    queryKey: ['source-test', source, example?.version],
    queryFn: () => dataOf(api.POST('/api/sources/test', { body: { source, payload: example?.payload } })),
    enabled: example !== undefined,
    // The task stays in sight while its templates are edited.
    placeholderData: (previous: TestResult | undefined) => previous,
    retry: false,
  })

const MAX_RECENT = 20

/** Deliveries to choose an example from: of a source, or without one, of every door. */
export const recentDeliveriesQuery = (sourceId: string | undefined) =>
  queryOptions({
    queryKey: ['deliveries', { sourceId }, 'recent'],
    queryFn: async () => {
      const query = { limit: MAX_RECENT, ...(sourceId && { sourceId }) }
      return (await dataOf(api.GET('/api/deliveries', { params: { query } }))).data
    },
  })

/** The payload of a delivery as text; undefined if it isn't stored, or not all of it. */
export const payloadText = ({ payload, payloadCut }: Schema<'DeliveryWithPayload'>): string | undefined =>
  payload === null || payload === undefined || payloadCut ? undefined : JSON.stringify(payload, null, 2)
