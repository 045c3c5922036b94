import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, dataOf, type QueryParams, type Schema } from './client.ts'
import { recordsOf } from './task-records.ts'

export type Task = Schema<'Task'>
export type TaskListItem = Schema<'TaskListItem'>
export type Project = Schema<'Project'>
export type List = Schema<'List'>
export type Activity = Schema<'Activity'>
export type Comment = Schema<'Comment'>
export type Rule = Schema<'Rule'>

type TaskQueryParams = QueryParams<'/api/tasks'>

/** The filters and the sort order, as in the address bar. */
export type TaskFilters = Pick<
  TaskQueryParams,
  | 'projectId'
  | 'listId'
  | 'status'
  | 'source'
  | 'priority'
  | 'label'
  | 'assignee'
  | 'kind'
  | 'externalId'
  | 'codehostIssueNumber'
  | 'codehostPrNumber'
  | 'createdSince'
  | 'openedSince'
  | 'updatedSince'
  | 'includeArchived'
  | 'isReady'
  | 'claimed'
  | 'triaged'
  | 'snoozed'
  | 'needsAnswer'
  | 'q'
  | 'sort'
>

/** Newest first: by when a task was opened, not by when it was imported. */
export const DEFAULT_SORT = '-openedAt'

/** How long a search may be, in characters. */
export const MAX_QUERY = 200

const TASKS_PER_PAGE = 100

/** Options of an infinite query over cursor pages. */
export const cursorPagination = {
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor ?? undefined,
}

/** The items of all loaded pages. */
export const itemsOf = <T>(data: { pages: { data: T[] }[] } | undefined): T[] =>
  data?.pages.flatMap(({ data }) => data) ?? []

export const fetchTaskPage = (params: TaskQueryParams, signal?: AbortSignal) =>
  dataOf(
    api.GET('/api/tasks', {
      // The order matters: index.html preloads exactly this URL.
      params: { query: { fields: 'summary', limit: TASKS_PER_PAGE, ...params } },
      signal,
    }),
  )

/** What a list asks the service for: snoozed tasks are hidden, unless somebody looks for them. */
export const requestOf = (filters: TaskFilters): TaskFilters =>
  hidesSnoozed(filters) ? { ...filters, snoozed: false } : filters

const hidesSnoozed = ({ snoozed, q, externalId, codehostIssueNumber, codehostPrNumber }: TaskFilters) =>
  (snoozed ?? q ?? externalId ?? codehostIssueNumber ?? codehostPrNumber ?? false) === false

/** Whether a list hides one of its tasks at once: it was snoozed, or triaged where the list has what is not. */
export function isHidden(filters: TaskFilters, task: TaskListItem): boolean {
  if (filters.triaged === false && (task.triaged || task.status === 'done')) return true
  return task.snoozedUntil !== null && hidesSnoozed(filters)
}

export interface TaskIdPage {
  ids: string[]
  nextCursor: string | null
}

/** The IDs of the tasks in a list. The first page is small to render fast; later pages are larger. */
export const tasksQuery = (filters: TaskFilters) =>
  infiniteQueryOptions({
    queryKey: ['tasks', filters],
    // The signal cancels requests that are no longer needed, such as a search for half a word.
    queryFn: async ({ pageParam, signal, client }): Promise<TaskIdPage> => {
      const receive = recordsOf(client).request()
      const { data, nextCursor } = await fetchTaskPage(
        { limit: pageParam ? 200 : 50, sort: DEFAULT_SORT, ...requestOf(filters), ...cursorParam(pageParam) },
        signal,
      )
      receive(data)
      return { ids: data.map(({ id }) => id), nextCursor }
    },
    ...cursorPagination,
    // The stream keeps it up to date; a refetch would load every page again.
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })

/** A task as the service returned it. `useTask` has it with the changes that are being saved. */
export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['task', id],
    queryFn: async ({ client }) => {
      const receive = recordsOf(client).request()
      const task = await dataOf(api.GET('/api/tasks/{id}', { params: { path: { id } } }))
      receive([task])
      return task
    },
  })

export const timelineQuery = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: ['timeline', taskId],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/activity', {
          params: { query: { taskId, limit: 50, ...cursorParam(pageParam) } },
        }),
      ),
    ...cursorPagination,
  })

/** Newest first. */
export const commentsQuery = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: ['comments', taskId],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/tasks/{id}/comments', {
          params: {
            path: { id: taskId },
            query: { sort: '-createdAt', limit: 30, ...cursorParam(pageParam) },
          },
        }),
      ),
    ...cursorPagination,
  })

export const commentQuery = (id: string) =>
  queryOptions({
    queryKey: ['comment', id],
    queryFn: () => dataOf(api.GET('/api/comments/{id}', { params: { path: { id } } })),
    retry: false,
  })

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/projects', pageQuery(cursor)))),
})

export const listsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['lists', projectId],
    queryFn: () =>
      fetchAllPages((cursor) =>
        dataOf(
          api.GET('/api/projects/{id}/lists', {
            params: { path: { id: projectId }, query: { limit: 200, ...cursorParam(cursor) } },
          }),
        ),
      ),
  })

/** The lists of all active projects, in one request for 200. */
export const allListsQuery = queryOptions({
  queryKey: ['lists'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/lists', pageQuery(cursor)))),
})

export const rulesQuery = (projectId?: string) =>
  queryOptions({
    queryKey: ['rules', projectId ?? null],
    queryFn: async () =>
      (
        await dataOf(
          api.GET('/api/rules', {
            params: { query: { includeInactive: true, ...(projectId && { projectId }) } },
          }),
        )
      ).data,
  })

export const ruleVersionsQuery = (ruleId: string) =>
  infiniteQueryOptions({
    queryKey: ['rule-versions', ruleId],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/rules/{id}/versions', {
          params: { path: { id: ruleId }, query: { limit: 20, ...cursorParam(pageParam) } },
        }),
      ),
    ...cursorPagination,
  })

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/keys', pageQuery(cursor)))),
})

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => fetchAllPages((cursor) => dataOf(api.GET('/api/sessions', pageQuery(cursor)))),
})

export const webhookSecretsQuery = queryOptions({
  queryKey: ['webhook-secrets'],
  queryFn: () => dataOf(api.GET('/api/webhook-secrets')),
})

export const routingQuery = queryOptions({
  queryKey: ['routing'],
  queryFn: async () => (await dataOf(api.GET('/api/webhook-routing'))).data,
})

export type DeliveryFilter = Pick<
  QueryParams<'/api/deliveries'>,
  'receiver' | 'sourceId' | 'projectId' | 'outcome' | 'senderId'
>

const fetchDeliveries = (filter: DeliveryFilter, cursor?: string) =>
  dataOf(api.GET('/api/deliveries', { params: { query: { limit: 25, ...filter, ...cursorParam(cursor) } } }))

export const deliveriesQuery = (filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: ['delivery-pages', filter],
    queryFn: ({ pageParam }) => fetchDeliveries(filter, pageParam),
    ...cursorPagination,
    // The newest ones keep it up to date; a refetch would load every page again.
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The first page, again and again: what arrives does not always change a task, so the stream does not report it. */
export const newestDeliveriesQuery = (filter: DeliveryFilter) =>
  queryOptions({
    queryKey: ['deliveries', filter, 'newest'],
    queryFn: () => fetchDeliveries(filter),
    refetchInterval: 5_000,
  })

/** A delivery with its payload, which stays the same. */
export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', id],
    queryFn: () => dataOf(api.GET('/api/deliveries/{id}', { params: { path: { id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const contextQuery = (projectId?: string) =>
  queryOptions({
    queryKey: ['context', projectId ?? null],
    queryFn: () =>
      dataOf(
        api.GET('/api/context', {
          params: { query: { format: 'markdown', ...(projectId && { projectId }) } },
          parseAs: 'text',
        }),
      ),
  })

/** The query parameter for the next page; nothing for the first page. */
export const cursorParam = (cursor: string | undefined) => (cursor ? { cursor } : {})

export const pageQuery = (cursor: string | undefined) => ({
  params: { query: { limit: 200, ...cursorParam(cursor) } },
})

type FetchPage<T> = (cursor?: string) => Promise<{ data: T[]; nextCursor: string | null }>

/** The items of all pages; undefined when there are more than `maxPages`. */
export function fetchAllPages<T>(fetchPage: FetchPage<T>): Promise<T[]>
export function fetchAllPages<T>(fetchPage: FetchPage<T>, maxPages: number): Promise<T[] | undefined>
export async function fetchAllPages<T>(
  fetchPage: FetchPage<T>,
  maxPages = Number.POSITIVE_INFINITY,
): Promise<T[] | undefined> {
  const all: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const { data, nextCursor } = await fetchPage(cursor)
    all.push(...data)
    if (nextCursor === null) return all
    cursor = nextCursor
  }
  return undefined
}
