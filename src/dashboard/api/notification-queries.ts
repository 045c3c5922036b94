import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Schema } from './client.ts'
import { cursorPagination, cursorParam } from './queries.ts'

export type Notification = Schema<'Notification'>

/** The latest first; with `isUnread` only those. */
export const notificationsQuery = (isUnread: boolean) =>
  infiniteQueryOptions({
    queryKey: ['notifications', 'list', isUnread],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/notifications', {
          params: { query: { limit: 50, ...(isUnread && { unread: true }), ...cursorParam(pageParam) } },
        }),
      ),
    ...cursorPagination,
  })

/** How many are unread. */
export const unreadQuery = queryOptions({
  queryKey: ['notifications', 'unread'],
  queryFn: () => dataOf(api.GET('/api/notifications/unread')),
})

/** The service counts to this. */
export const MAX_UNREAD = 1_000

/** Whether the person follows a task. */
export const followQuery = (id: string) =>
  queryOptions({
    queryKey: ['follow', id],
    queryFn: () => dataOf(api.GET('/api/tasks/{id}/follow', { params: { path: { id } } })),
  })
