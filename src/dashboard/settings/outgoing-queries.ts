import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { cursorPagination, cursorParam } from '../api/queries.ts'

export type Webhook = Schema<'OutgoingWebhook'>
export type WebhookWithSecret = Schema<'OutgoingWebhookWithSecret'>
export type OutgoingDelivery = Schema<'OutgoingDelivery'>

export const outgoingWebhooksQuery = infiniteQueryOptions({
  queryKey: ['outgoing-webhooks'],
  queryFn: ({ pageParam }) => dataOf(api.GET('/api/webhooks', { params: { query: cursorParam(pageParam) } })),
  ...cursorPagination,
})

export const outgoingDeliveriesQuery = (id: string, outcome: OutgoingDelivery['outcome'] | undefined) =>
  infiniteQueryOptions({
    queryKey: ['outgoing-deliveries', id, outcome],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/webhooks/{id}/deliveries', {
          params: {
            path: { id },
            query: { limit: 50, ...(outcome && { outcome }), ...cursorParam(pageParam) },
          },
        }),
      ),
    ...cursorPagination,
  })
