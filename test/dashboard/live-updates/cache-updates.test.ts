import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Activity, TaskListItem } from '../../../src/dashboard/api/queries.ts'
import type { LiveEvent } from '../../../src/dashboard/live-updates/event-source.ts'

const START = Date.parse('2026-11-22T12:00:00.000Z')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: START })
  // The client reads the address of the page when it loads.
  vi.stubGlobal('location', new URL('http://inlet.test/tasks'))
  vi.resetModules()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.resetModules()
})

describe('changes that the stream tells', () => {
  test('in a burst are answered with one question for all rows that changed', async () => {
    const { service, changes, titles, wait } = await given([row('b'), row('a')])
    service.rows = [row('a', { title: 'new', version: 2 })]
    changes.take([event('task.updated', 'a', -1_000), event('task.updated', 'b', -3_000)])
    changes.take([event('task.updated', 'a')])
    await wait(1_000)
    // What was written down just before may carry an earlier time.
    expect(service.sinces).toEqual([new Date(START - 3_000 - 5_000).toISOString()])
    expect(titles()).toEqual(['Task b', 'new'])
  })

  test('that keep coming cost a question in two seconds', async () => {
    const { service, changes, wait } = await given([row('a')])
    for (let second = 0; second < 10; second += 0.1) {
      changes.take([event('task.updated', 'a')])
      await wait(100)
    }
    await wait(5_000)
    expect(service.sinces).toHaveLength(6)
  })

  test('make lists that nobody looks at stale at once', async () => {
    const { cache, changes } = await given([])
    cache.setQueryData(['tasks', { q: 'left' }], { pages: [], pageParams: [] })
    changes.take([event('task.updated', 'a')])
    expect(cache.getQueryState(['tasks', { q: 'left' }])?.isInvalidated).toBe(true)
  })

  test('take a deleted row out, but not one that was restored meanwhile', async () => {
    const { service, changes, titles, wait } = await given([row('c'), row('b'), row('a')])
    service.rows = [row('b', { version: 3 })]
    changes.take([event('task.deleted', 'a'), event('task.deleted', 'b')])
    await wait(1_000)
    expect(titles()).toEqual(['Task c', 'Task b'])
  })

  test('are asked for again, with what came meanwhile, when the service does not answer', async () => {
    const { service, changes, titles, wait } = await given([row('b'), row('a')])
    service.isAway = true
    changes.take([event('task.deleted', 'a', -60_000)])
    await wait(1_000)
    expect(titles()).toEqual(['Task b', 'Task a'])
    service.isAway = false
    service.rows = []
    changes.take([event('task.deleted', 'b')])
    await wait(10_000)
    expect(service.sinces.at(-1)).toBe(new Date(START - 60_000 - 5_000).toISOString())
    expect(titles()).toEqual([])
  })

  test('of more rows than are worth reading load what is shown anew', async () => {
    const { service, changes, titles, wait } = await given([row('b'), row('a')])
    service.isEndless = true
    service.list = [row('z')]
    changes.take([event('task.deleted', 'a')])
    await wait(1_000)
    expect(service.sinces).toHaveLength(5)
    expect(titles()).toEqual(['Task z'])
  })

  test('change nothing once the page has left, even when the answer is on its way', async () => {
    const { service, changes, titles, wait } = await given([row('a')])
    service.rows = []
    const answer = service.hold()
    changes.take([event('task.deleted', 'a')])
    await wait(1_000)
    changes.stop()
    answer()
    changes.take([event('task.deleted', 'a')])
    await wait(10_000)
    expect(titles()).toEqual(['Task a'])
    expect(service.sinces).toHaveLength(1)
  })

  test.each([
    ['task.updated', ['task a', 'timeline a', 'projects', 'lists', 'context']],
    ['task.deleted', ['task a', 'timeline a', 'projects', 'lists', 'context', 'trash']],
    ['task.restored', ['task a', 'timeline a', 'projects', 'lists', 'context', 'trash']],
    ['rule.updated', ['rules', 'rule-versions', 'context']],
    ['key.revoked', ['keys', 'webhook-secrets']],
    ['feedback.ignored', ['events']],
    ['session.ended', ['sessions']],
    ['sync.finished', ['syncs', 'connection', 'projects', 'lists', 'context']],
    ['list.created', ['projects', 'lists', 'connection', 'routing']],
  ])('make stale what a page shows of them and nothing else: %s', async (type, stale) => {
    const { changes, wait, staleOf } = await given([])
    changes.take([event(type, type.startsWith('task.') ? 'a' : null)])
    await wait(10_000)
    expect(staleOf()).toEqual([...stale].sort())
  })

  test('of the configuration, which no activity tells, ask for no rows', async () => {
    const { service, changes, wait, staleOf } = await given([row('a')])
    changes.take([{ id: null, type: 'routing.changed', data: {} }])
    await wait(10_000)
    expect(staleOf()).toEqual(['connection', 'lists', 'projects', 'routing'])
    expect(service.sinces).toEqual([])
  })
})

describe('the activity that was missed', () => {
  test('is read page after page and told oldest first', async () => {
    const { service, activitySince } = await given([])
    service.activity = [['5', '4'], ['3', '2'], ['1']]
    const missed = await activitySince(START)
    expect(missed?.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5'])
    expect(service.sinces).toEqual(Array(3).fill(new Date(START - 5_000).toISOString()))
  })

  test.each([
    [5, 5],
    [6, undefined],
  ])('of %d pages is read up to five pages', async (pages, length) => {
    const { service, activitySince } = await given([])
    service.activity = Array.from({ length: pages }, (_, index) => [`${index}`])
    expect((await activitySince(START))?.length).toBe(length)
  })

  test('is not taken for none when the service does not answer', async () => {
    const { service, activitySince } = await given([])
    service.isAway = true
    await expect(activitySince(START)).rejects.toMatchObject({ status: 503 })
  })
})

/** A page that shows a list of these tasks. */
async function given(shown: TaskListItem[]) {
  const [{ changesFor }, { itemsOf, tasksQuery }, { activitySince }] = await Promise.all([
    import('../../../src/dashboard/live-updates/cache-updates.ts'),
    import('../../../src/dashboard/api/queries.ts'),
    import('../../../src/dashboard/live-updates/missed-activity.ts'),
  ])
  const service = serviceOf()
  const cache = new QueryClient()
  const query = tasksQuery({})
  cache.setQueryData(query.queryKey, { pages: [{ data: shown, nextCursor: null }], pageParams: [''] })
  new InfiniteQueryObserver(cache, query).subscribe(() => {})
  const others = [
    ...['projects', 'lists', 'context', 'connection', 'routing', 'trash', 'rules', 'rule-versions'],
    ...[
      'keys',
      'webhook-secrets',
      'events',
      'sessions',
      'syncs',
      'task a',
      'task b',
      'timeline a',
      'timeline b',
    ],
  ]
  for (const name of others) cache.setQueryData(name.split(' '), {})
  return {
    service,
    cache,
    activitySince,
    changes: changesFor(cache),
    titles: () => itemsOf<TaskListItem>(cache.getQueryData(query.queryKey)).map(({ title }) => title),
    staleOf: () => others.filter((name) => cache.getQueryState(name.split(' '))?.isInvalidated).sort(),
    async wait(ms: number) {
      await vi.advanceTimersByTimeAsync(ms)
      // Bodies are read by streams, which take turns of the loop of their own.
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** A service at the other end of the page's requests. */
function serviceOf() {
  let answer = Promise.resolve()
  const service = {
    /** What changed since a time. */
    rows: [] as TaskListItem[],
    /** What a list holds when it is loaded anew. */
    list: [] as TaskListItem[],
    activity: [] as string[][],
    isAway: false,
    isEndless: false,
    /** The times since when it was asked for changes. */
    sinces: [] as string[],
    /** Keeps answers back until told otherwise. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      answer = promise
      return resolve
    },
  }
  vi.stubGlobal('fetch', async ({ url }: Request) => {
    const { pathname, searchParams } = new URL(url)
    const since = searchParams.get('updatedSince') ?? searchParams.get('since')
    if (since) service.sinces.push(since)
    await answer
    if (service.isAway) return Response.json({ code: 'unavailable' }, { status: 503 })
    if (pathname === '/api/activity') {
      const page = Number(searchParams.get('cursor') ?? 0)
      const nextCursor = page + 1 < service.activity.length ? `${page + 1}` : null
      return Response.json({ data: service.activity[page]?.map((id) => ({ id })), nextCursor })
    }
    if (!since) return Response.json({ data: service.list, nextCursor: null })
    return Response.json({ data: service.rows, nextCursor: service.isEndless ? 'more' : null })
  })
  return service
}

let entries = 0

/** What the stream tells of a task, so long after the start. */
function event(type: string, taskId: string | null, ms = 0): LiveEvent {
  const createdAt = new Date(START + ms).toISOString()
  return { id: `${++entries}`, type: 'activity', data: { type, taskId, createdAt } as Activity }
}

function row(id: string, fields: Partial<TaskListItem> = {}): TaskListItem {
  return { id, title: `Task ${id}`, version: 1, ...fields } as TaskListItem
}
