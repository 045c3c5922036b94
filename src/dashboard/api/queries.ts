import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, api, type Schema } from './client.ts'

export type Task = Schema<'Task'>
export type TaskListItem = Schema<'TaskListItem'>
export type Project = Schema<'Project'>
export type List = Schema<'List'>
export type Activity = Schema<'Activity'>
export type Rule = Schema<'Rule'>

/** Which tasks, in which order: what the address bar holds. */
export interface TaskFilters {
  projectId?: string
  listId?: string
  status?: Task['status'][]
  source?: Task['source'][]
  priority?: Task['priority'][]
  label?: string[]
  q?: string
  sort?: '-createdAt' | 'createdAt' | '-updatedAt' | 'updatedAt' | '-priority'
}

const TASKS_A_PAGE = 100

export const pageOfTasks = (
  filters: TaskFilters & { updatedSince?: string },
  cursor?: string,
  limit = TASKS_A_PAGE,
) =>
  answerOf(
    api.GET('/api/tasks', {
      params: { query: { ...filters, fields: 'summary', limit, ...(cursor && { cursor }) } },
    }),
  )

/** The first page is small so that it is there at once; whoever scrolls on gets larger ones. */
export const tasksQuery = (filters: TaskFilters) =>
  infiniteQueryOptions({
    queryKey: ['tasks', filters],
    queryFn: ({ pageParam }) => pageOfTasks(filters, pageParam, pageParam ? 200 : 50),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    // The stream keeps it fresh; asking again for a thousand pages would not.
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })

export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['task', id],
    queryFn: () => answerOf(api.GET('/api/tasks/{id}', { params: { path: { id } } })),
  })

export const timelineQuery = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: ['timeline', taskId],
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/api/activity', {
          params: { query: { taskId, limit: 50, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: () => everyPage((cursor) => answerOf(api.GET('/api/projects', paged(cursor)))),
})

export const listsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['lists', projectId],
    queryFn: () =>
      everyPage((cursor) =>
        answerOf(
          api.GET('/api/projects/{id}/lists', {
            params: { path: { id: projectId }, query: { limit: 200, ...(cursor && { cursor }) } },
          }),
        ),
      ),
  })

export const rulesQuery = (projectId?: string) =>
  queryOptions({
    queryKey: ['rules', projectId ?? null],
    queryFn: async () =>
      (
        await answerOf(
          api.GET('/api/rules', {
            params: { query: { includeInactive: true, ...(projectId && { projectId }) } },
          }),
        )
      ).data,
  })

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: () => everyPage((cursor) => answerOf(api.GET('/api/keys', paged(cursor)))),
})

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => everyPage((cursor) => answerOf(api.GET('/api/sessions', paged(cursor)))),
})

export const webhookSecretsQuery = queryOptions({
  queryKey: ['webhook-secrets'],
  queryFn: async () => (await answerOf(api.GET('/api/webhook-secrets'))).data,
})

export const routingQuery = queryOptions({
  queryKey: ['routing'],
  queryFn: async () => (await answerOf(api.GET('/api/webhook-routing'))).data,
})

export const eventsQuery = (outcome?: 'accepted' | 'ignored' | 'rejected') =>
  infiniteQueryOptions({
    queryKey: ['events', outcome ?? null],
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/api/analytics/events', {
          params: {
            query: { limit: 50, ...(outcome && { outcome }), ...(pageParam && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

export const contextQuery = (projectId?: string) =>
  queryOptions({
    queryKey: ['context', projectId ?? null],
    queryFn: () =>
      answerOf(
        api.GET('/api/context', {
          params: { query: { format: 'markdown', ...(projectId && { projectId }) } },
          parseAs: 'text',
        }),
      ),
  })

const paged = (cursor: string | undefined) => ({
  params: { query: { limit: 200, ...(cursor && { cursor }) } },
})

/** For what there are dozens of, rarely hundreds. */
async function everyPage<T>(
  ask: (cursor?: string) => Promise<{ data: T[]; nextCursor: string | null }>,
): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const page = await ask(cursor)
    all.push(...page.data)
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return all
}
