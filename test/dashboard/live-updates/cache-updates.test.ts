import { QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Activity } from '../../../src/dashboard/api/queries.ts'
import type { LiveEvent } from '../../../src/dashboard/live-updates/event-source.ts'
import { given, row, START } from './shown-list.ts'

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

describe('changes reported by the stream', () => {
  test('cause one request for all changed rows of a burst', async () => {
    const { service, updater, titles, wait } = await given([row('b'), row('a')])
    service.rows = [row('a', { title: 'new', version: 2 })]
    updater.applyEvents([
      event('task.updated', { taskId: 'a', ms: -1_000 }),
      event('task.updated', { taskId: 'b', ms: -3_000 }),
    ])
    updater.applyEvents([event('task.updated', { taskId: 'a' })])
    await wait(1_000)
    // What was written down just before may carry an earlier time.
    expect(service.sinces).toEqual([new Date(START - 3_000 - 5_000).toISOString()])
    expect(titles()).toEqual(['Task b', 'new'])
  })

  test('cause at most one request per 2 seconds', async () => {
    const { service, updater, wait } = await given([row('a')])
    for (let second = 0; second < 10; second += 0.1) {
      updater.applyEvents([event('task.updated', { taskId: 'a' })])
      await wait(100)
    }
    await wait(5_000)
    expect(service.sinces).toHaveLength(6)
  })

  test('are shown before the rows are requested, unless the row is newer', async () => {
    const updatedAt = new Date(START).toISOString()
    const { service, updater, titles } = await given([row('b', { updatedAt }), row('a', { updatedAt })])
    const renamed = (id: string, ms: number) =>
      event('task.updated', {
        taskId: id,
        ms,
        metadata: { changes: { title: { from: '', to: `new ${id}` } } },
      })
    updater.applyEvents([renamed('a', 1), renamed('b', 0)])
    expect(titles()).toEqual(['Task b', 'new a'])
    expect(service.sinces).toEqual([])
  })

  test('are not reverted by the response of a request that began before them', async () => {
    const { service, updater, titles, wait } = await given([row('a', { updatedAt: '' })])
    service.rows = [row('a', { title: 'first', version: 2, updatedAt: '' })]
    const respond = service.delayResponses()
    updater.applyEvents([event('task.updated', { taskId: 'a' })])
    await wait(1_000)
    updater.applyEvents([
      event('task.updated', {
        taskId: 'a',
        metadata: { changes: { title: { from: 'first', to: 'second' } } },
      }),
    ])
    respond()
    await wait(0)
    expect(service.sinces).toHaveLength(1)
    expect(titles()).toEqual(['second'])
    service.rows = [row('a', { title: 'second', version: 3, updatedAt: '' })]
    await wait(5_000)
    expect(titles()).toEqual(['second'])
  })

  test('of a task request the rows that wait for it, which are ready without a new version', async () => {
    const waiting = row('b', { blockedBy: ['a'], isReady: false })
    const { service, updater, readiness, wait } = await given([
      waiting,
      row('a'),
      row('c', { isReady: false }),
    ])
    service.rows = [row('a', { status: 'done', version: 2 })]
    service.tasks = [{ ...waiting, isReady: true }]
    updater.applyEvents([event('task.completed', { taskId: 'a' })])
    await wait(1_000)
    expect(readiness()).toEqual([true, undefined, false])
  })

  test('invalidate inactive lists immediately', async () => {
    const { queryClient, updater } = await given([])
    queryClient.setQueryData(['tasks', { q: 'left' }], { pages: [], pageParams: [] })
    updater.applyEvents([event('task.updated', { taskId: 'a' })])
    expect(queryClient.getQueryState(['tasks', { q: 'left' }])?.isInvalidated).toBe(true)
  })

  test('remove a deleted row, but not one restored since', async () => {
    const { service, updater, titles, wait } = await given([row('c'), row('b'), row('a')])
    service.rows = [row('b', { version: 3 })]
    updater.applyEvents([event('task.deleted', { taskId: 'a' }), event('task.deleted', { taskId: 'b' })])
    await wait(1_000)
    expect(titles()).toEqual(['Task c', 'Task b'])
  })

  test('are requested again, together with newer ones, after a failure', async () => {
    const { service, updater, titles, wait } = await given([row('b'), row('a')])
    service.isUnavailable = true
    updater.applyEvents([event('task.deleted', { taskId: 'a', ms: -60_000 })])
    await wait(1_000)
    expect(titles()).toEqual(['Task b', 'Task a'])
    service.isUnavailable = false
    service.rows = []
    updater.applyEvents([event('task.deleted', { taskId: 'b' })])
    await wait(10_000)
    expect(service.sinces.at(-1)).toBe(new Date(START - 60_000 - 5_000).toISOString())
    expect(titles()).toEqual([])
  })

  test('reload the shown pages when too many rows changed', async () => {
    const { service, updater, titles, wait } = await given([row('b'), row('a')])
    service.isEndless = true
    service.list = [row('z')]
    updater.applyEvents([event('task.deleted', { taskId: 'a' })])
    await wait(1_000)
    expect(service.sinces).toHaveLength(2)
    expect(titles()).toEqual(['Task z'])
  })

  test('are ignored after the updater is stopped, including running requests', async () => {
    const { service, updater, titles, wait } = await given([row('a')])
    service.rows = []
    const responseDelay = service.delayResponses()
    updater.applyEvents([event('task.deleted', { taskId: 'a' })])
    await wait(1_000)
    updater.stop()
    responseDelay()
    updater.applyEvents([event('task.deleted', { taskId: 'a' })])
    await wait(10_000)
    expect(titles()).toEqual(['Task a'])
    expect(service.sinces).toHaveLength(1)
  })

  const ofTask = ['task a', 'timeline a', 'projects', 'lists', 'context', 'saved-filters', 'tasks-total']
  test.each([
    ['task.updated', [...ofTask]],
    ['task.deleted', [...ofTask, 'trash']],
    ['task.restored', [...ofTask, 'trash']],
    ['project.archived', ['projects', 'lists', 'connection', 'routing', 'saved-filters', 'tasks-total']],
    ['rule.updated', ['rules', 'rule-versions', 'context']],
    ['key.revoked', ['keys', 'webhook-secrets']],
    ['feedback.ignored', ['deliveries']],
    ['session.ended', ['sessions']],
    ['sync.finished', ['syncs', 'connection', 'projects', 'lists', 'context', 'tasks-total']],
    ['list.created', ['projects', 'lists', 'connection', 'routing']],
  ])('invalidate exactly the queries that depend on them: %s', async (type, keys) => {
    const { updater, wait, invalidatedKeys } = await given([])
    updater.applyEvents([event(type, { taskId: type.startsWith('task.') ? 'a' : null })])
    await wait(10_000)
    expect(invalidatedKeys()).toEqual([...keys].sort())
  })

  test('are counted for saved filters at once, and then every 20 seconds', async () => {
    const { queryClient, updater, wait } = await given([row('a')])
    const requests: number[] = []
    const queryFn = () => requests.push(Date.now() - START)
    new QueryObserver(queryClient, { queryKey: ['saved-filters'], queryFn, staleTime: 60_000 }).subscribe(
      () => {},
    )
    await wait(0)
    for (let second = 0; second < 30; second++) {
      updater.applyEvents([event('task.updated', { taskId: 'a' })])
      await wait(1_000)
    }
    expect(requests).toEqual([500, 20_500])
  })

  test('of comments update the count of the row and the comments, and request no rows', async () => {
    const { service, updater, counts, wait, invalidatedKeys } = await given([row('a', { updatedAt: '' })])
    updater.applyEvents([event('comment.created', { taskId: 'a', metadata: { commentCount: 3 } })])
    expect(counts()).toEqual([3])
    await wait(10_000)
    expect(invalidatedKeys()).toEqual(['comments a', 'task a', 'tasks-total', 'timeline a'])
    expect(service.sinces).toEqual([])
  })

  test('of the configuration request no rows', async () => {
    const { service, updater, wait, invalidatedKeys } = await given([row('a')])
    updater.applyEvents([{ id: null, type: 'routing.changed', data: {} }])
    await wait(10_000)
    expect(invalidatedKeys()).toEqual(['connection', 'lists', 'projects', 'routing'])
    expect(service.sinces).toEqual([])
  })
})

test('a stream that cannot tell what was missed invalidates everything', async () => {
  const { updater, wait, invalidatedKeys, others } = await given([row('a')])
  updater.applyEvents([{ id: null, type: 'stream.reset', data: {} }])
  await wait(0)
  expect(invalidatedKeys()).toEqual([...others].sort())
})

let lastId = 0

interface EventOptions {
  taskId: string | null
  /** After the start. */
  ms?: number
  metadata?: Activity['metadata']
}

/** What the stream tells of a task. */
function event(type: string, { taskId, ms = 0, metadata = {} }: EventOptions): LiveEvent {
  const createdAt = new Date(START + ms).toISOString()
  const actor = { type: 'key', id: null, name: 'A script' } as const
  return {
    id: `${++lastId}`,
    type: 'activity',
    data: { type, taskId, createdAt, metadata, actor } as Activity,
  }
}
