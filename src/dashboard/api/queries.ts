import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Question, type Schema } from './client.ts'

export type Task = Schema<'Task'>
export type TaskListItem = Schema<'TaskListItem'>
export type Project = Schema<'Project'>
export type List = Schema<'List'>
export type Activity = Schema<'Activity'>
export type Rule = Schema<'Rule'>

type TaskQuestion = Question<'/api/tasks'>

/** Which tasks, in which order: what the address bar holds. */
export type TaskFilters = Pick<
  TaskQuestion,
  'projectId' | 'listId' | 'status' | 'source' | 'priority' | 'label' | 'q' | 'sort'
>

const TASKS_A_PAGE = 100

/** How lists that go on page after page are asked for. */
const byCursor = {
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor ?? undefined,
}

/** All that such a list holds so far. */
export const itemsOf = <T>(held: { pages: { data: T[] }[] } | undefined): T[] =>
  held?.pages.flatMap(({ data }) => data) ?? []

export const pageOfTasks = (question: TaskQuestion, signal?: AbortSignal) =>
  dataOf(
    api.GET('/api/tasks', {
      // In this order: the page that is opened asked for the same address already.
      params: { query: { fields: 'summary', limit: TASKS_A_PAGE, ...question } },
      signal,
    }),
  )

/** The first page is small so that it is there at once; whoever scrolls on gets larger ones. */
export const tasksQuery = (filters: TaskFilters) =>
  infiniteQueryOptions({
    queryKey: ['tasks', filters],
    // What nobody waits for any more, such as a search for half a word, is called off.
    queryFn: ({ pageParam, signal }) =>
      pageOfTasks({ ...filters, limit: pageParam ? 200 : 50, ...at(pageParam) }, signal),
    ...byCursor,
    // The stream keeps it fresh; asking again for a thousand pages would not.
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })

export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['task', id],
    queryFn: () => dataOf(api.GET('/api/tasks/{id}', { params: { path: { id } } })),
  })

export const timelineQuery = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: ['timeline', taskId],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/activity', {
          params: { query: { taskId, limit: 50, ...at(pageParam) } },
        }),
      ),
    ...byCursor,
  })

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: () => everyPage((cursor) => dataOf(api.GET('/api/projects', paged(cursor)))),
})

export const listsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['lists', projectId],
    queryFn: () =>
      everyPage((cursor) =>
        dataOf(
          api.GET('/api/projects/{id}/lists', {
            params: { path: { id: projectId }, query: { limit: 200, ...at(cursor) } },
          }),
        ),
      ),
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
          params: { path: { id: ruleId }, query: { limit: 20, ...at(pageParam) } },
        }),
      ),
    ...byCursor,
  })

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: () => everyPage((cursor) => dataOf(api.GET('/api/keys', paged(cursor)))),
})

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => everyPage((cursor) => dataOf(api.GET('/api/sessions', paged(cursor)))),
})

export const webhookSecretsQuery = queryOptions({
  queryKey: ['webhook-secrets'],
  queryFn: () => dataOf(api.GET('/api/webhook-secrets')),
})

export const routingQuery = queryOptions({
  queryKey: ['routing'],
  queryFn: async () => (await dataOf(api.GET('/api/webhook-routing'))).data,
})

export const eventsQuery = (outcome?: 'accepted' | 'ignored' | 'rejected') =>
  infiniteQueryOptions({
    queryKey: ['events', outcome ?? null],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/analytics/events', {
          params: {
            query: { limit: 50, ...(outcome && { outcome }), ...at(pageParam) },
          },
        }),
      ),
    ...byCursor,
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

/** Where the page before ended; nothing for the first one. */
export const at = (cursor: string | undefined) => (cursor ? { cursor } : {})

const paged = (cursor: string | undefined) => ({ params: { query: { limit: 200, ...at(cursor) } } })

type Ask<T> = (cursor?: string) => Promise<{ data: T[]; nextCursor: string | null }>

/** All there is, page after page; undefined where that is more than so many pages. */
export function everyPage<T>(ask: Ask<T>): Promise<T[]>
export function everyPage<T>(ask: Ask<T>, most: number): Promise<T[] | undefined>
export async function everyPage<T>(ask: Ask<T>, most = Number.POSITIVE_INFINITY): Promise<T[] | undefined> {
  const all: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < most; page++) {
    const { data, nextCursor } = await ask(cursor)
    all.push(...data)
    if (nextCursor === null) return all
    cursor = nextCursor
  }
  return undefined
}
