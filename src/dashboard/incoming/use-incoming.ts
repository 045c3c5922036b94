import { queryOptions, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useEffect, useEffectEvent } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type DeliveryFilter, deliveriesQuery, itemsOf, newestDeliveriesQuery } from '../api/queries.ts'
import { useOpened } from '../navigation/use-opened.ts'
import type { Delivery } from './delivery-text.ts'

const AT_TOP_PX = 8

/**
 * The deliveries that match, newest first. At the top of the page new ones appear; further down, or while one is open, they
 * wait for a click, so that nothing moves under the pointer.
 */
export function useIncoming(filter: DeliveryFilter, scroller: RefObject<HTMLElement | null>) {
  const queryClient = useQueryClient()
  const { opened } = useOpened('delivery')
  const options = deliveriesQuery(filter)
  const query = useInfiniteQuery(options)
  const newest = useQuery({ ...newestDeliveriesQuery(filter), enabled: query.isSuccess })
  const isNewer = newest.dataUpdatedAt > query.dataUpdatedAt
  const listed: Delivery[] = itemsOf(query.data)
  const latest = (isNewer && newest.data?.data) || []
  const arrived = latest.filter(({ id }) => id > (listed[0]?.id ?? ''))
  const { data: linked } = useQuery({ ...openedQuery(opened ?? ''), enabled: opened !== undefined })
  const fresh = new Map([...(linked ? [linked] : []), ...latest].map((delivery) => [delivery.id, delivery]))
  // One that was processed has another outcome by now.
  const shown = listed.map((delivery) => fresh.get(delivery.id) ?? delivery)
  const isElsewhere = linked?.id === opened && query.isSuccess && !listed.some(({ id }) => id === opened)

  const show = () => {
    if (newest.data) queryClient.setQueryData(options.queryKey, { pages: [newest.data], pageParams: [''] })
  }
  const showAtTop = useEffectEvent(() => {
    const isAtTop = opened === undefined && (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX
    if (isNewer && isAtTop) show()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is called when others have arrived.
  useEffect(showAtTop, [newest.data])

  return {
    query,
    deliveries: isElsewhere && linked ? [linked, ...shown] : shown,
    waiting: arrived.length,
    showWaiting() {
      scroller.current?.scrollTo({ top: 0 })
      show()
    },
  }
}

/** One that is open: by its link, it may be older than the loaded pages, or left out by the filter. */
export const openedQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', 'opened', id],
    queryFn: () => dataOf(api.GET('/api/deliveries/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.outcome === 'pending' ? 5_000 : false),
    retry: false,
  })
