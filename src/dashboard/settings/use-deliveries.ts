import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { type DeliveryFilter, deliveriesQuery, itemsOf } from '../api/queries.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { POLL_MS, pollFirstPage } from './delivery-list.tsx'

/** The deliveries of an inbox, newest first. One that is open by its link comes first if it isn't among them. */
export function useDeliveries(filter: DeliveryFilter) {
  const { opened } = useOpened('delivery')
  const query = useInfiniteQuery({ ...deliveriesQuery(filter), refetchInterval: pollFirstPage })
  const listed: Schema<'Delivery'>[] = itemsOf(query.data)
  // It is older than the loaded pages, or has another outcome by now.
  const isElsewhere = opened !== undefined && query.isSuccess && !listed.some(({ id }) => id === opened)
  const { data: linked } = useQuery({ ...linkedQuery(opened ?? ''), enabled: isElsewhere })
  const isShown = isElsewhere && linked && isOfInbox(linked, filter)
  return { query, deliveries: isShown ? [linked, ...listed] : listed }
}

const linkedQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', 'linked', id],
    queryFn: () => dataOf(api.GET('/api/deliveries/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data ? POLL_MS : false),
    retry: false,
  })

const isOfInbox = (delivery: Schema<'Delivery'>, { receiver, sourceId, projectId }: DeliveryFilter) =>
  (receiver === undefined || delivery.receiver === receiver) &&
  (sourceId === undefined || delivery.sourceId === sourceId) &&
  (projectId === undefined || delivery.projectId === projectId)
