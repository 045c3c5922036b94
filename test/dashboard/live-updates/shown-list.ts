import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { vi } from 'vitest'
import type { TaskListItem } from '../../../src/dashboard/api/queries.ts'

export const START = Date.parse('2026-11-22T12:00:00.000Z')

/** A page that shows a list of these tasks. */
export async function given(shown: TaskListItem[]) {
  const [
    { createCacheUpdater: changesFor },
    { tasksQuery },
    { fetchActivitySince: activitySince },
    { rowsIn },
    { recordsOf },
  ] = await Promise.all([
    import('../../../src/dashboard/live-updates/cache-updates.ts'),
    import('../../../src/dashboard/api/queries.ts'),
    import('../../../src/dashboard/live-updates/missed-activity.ts'),
    import('../../../src/dashboard/api/task-cache.ts'),
    import('../../../src/dashboard/api/task-records.ts'),
  ])
  const service = serviceOf()
  const queryClient = new QueryClient()
  const query = tasksQuery({})
  const records = recordsOf(queryClient)
  records.request()(shown)
  const ids = shown.map(({ id }) => id)
  queryClient.setQueryData(query.queryKey, { pages: [{ ids, nextCursor: null }], pageParams: [''] })
  const rows = () => rowsIn(records, queryClient.getQueryData(query.queryKey)?.pages ?? [])
  new InfiniteQueryObserver(queryClient, query).subscribe(() => {})
  const others = [
    ...['projects', 'lists', 'context', 'connection', 'routing', 'trash', 'rules', 'rule-versions'],
    ...[
      'saved-filters',
      'tasks-total',
      'keys',
      'webhook-secrets',
      'deliveries',
      'sessions',
      'syncs',
      'task a',
      'task b',
      'timeline a',
      'timeline b',
      'comments a',
      'comments b',
    ],
  ]
  for (const name of others) queryClient.setQueryData(name.split(' '), {})
  return {
    service,
    others,
    queryClient,
    activitySince,
    updater: changesFor(queryClient),
    counts: () => rows().map(({ commentCount }) => commentCount),
    titles: () => rows().map(({ title }) => title),
    readiness: () => rows().map(({ isReady }) => isReady),
    invalidatedKeys: () =>
      others.filter((name) => queryClient.getQueryState(name.split(' '))?.isInvalidated).sort(),
    async wait(ms: number) {
      await vi.advanceTimersByTimeAsync(ms)
      // Bodies are read by streams, which take turns of the loop of their own.
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** A service at the other end of the page's requests. */
function serviceOf() {
  let responseDelay = Promise.resolve()
  const service = {
    /** What changed since a time. */
    rows: [] as TaskListItem[],
    /** What is returned for each alone. */
    tasks: [] as TaskListItem[],
    /** What a list holds when it is loaded anew. */
    list: [] as TaskListItem[],
    activity: [] as string[][],
    isUnavailable: false,
    isEndless: false,
    /** The times since when it was asked for changes. */
    sinces: [] as string[],
    /** Keeps answers back until told otherwise. */
    delayResponses() {
      const { promise, resolve } = Promise.withResolvers<void>()
      responseDelay = promise
      return resolve
    },
  }
  vi.stubGlobal('fetch', async ({ url }: Request) => {
    const { pathname, searchParams } = new URL(url)
    const since = searchParams.get('updatedSince') ?? searchParams.get('since')
    if (since) service.sinces.push(since)
    await responseDelay
    if (service.isUnavailable) return Response.json({ code: 'unavailable' }, { status: 503 })
    if (pathname === '/api/activity') {
      const page = Number(searchParams.get('cursor') ?? 0)
      const nextCursor = page + 1 < service.activity.length ? `${page + 1}` : null
      return Response.json({ data: service.activity[page]?.map((id) => ({ id })), nextCursor })
    }
    const task = service.tasks.find(({ id }) => pathname === `/api/tasks/${id}`)
    if (task) return Response.json(task)
    if (!since) return Response.json({ data: service.list, nextCursor: null })
    return Response.json({ data: service.rows, nextCursor: service.isEndless ? 'more' : null })
  })
  return service
}

export function row(id: string, fields: Partial<TaskListItem> = {}): TaskListItem {
  return { id, title: `Task ${id}`, version: 1, blockedBy: [], ...fields } as TaskListItem
}
