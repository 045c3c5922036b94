import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChangePosition } from '../../src/domain/change-cursor.ts'
import { decodeChangeCursor, encodeChangeCursor } from '../../src/domain/change-cursor.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { listenTo, stored } from '../support/stream.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const log = async (body: object, on: TestApp = service) => (await on.post('/api/activity', body)).body
const read = async (query = '', options: { key?: string; on?: TestApp } = {}) => {
  const { on = service, ...rest } = options
  return (await on.get(`/api/changes${query}`, rest)).body
}
const cursorNow = async () => (await read()).nextCursor as string
const messages = ({ data }: { data: { message: string }[] }) => data.map(({ message }) => message)

/** All pages from a cursor on. */
async function readAll(query: string, options: { key?: string } = {}) {
  const data = []
  let pages = 0
  for (let cursor = '', hasMore = true; hasMore; pages++) {
    const page = await read(`${query}${cursor}`, options)
    data.push(...page.data)
    cursor = `&cursor=${page.nextCursor}`
    hasMore = page.hasMore
  }
  return { data, pages }
}

describe('changes', () => {
  test('begin now without a cursor, and continue after it', async () => {
    await log({ type: 'x', message: 'before' })
    const start = await read()
    expect(start).toEqual({ data: [], nextCursor: expect.stringMatching(/^[\w-]{32}$/), hasMore: false })
    const one = await log({ type: 'x', message: 'one' })
    const two = await log({ type: 'x', message: 'two', metadata: { a: ['"'] } })

    const page = await read(`?cursor=${start.nextCursor}`)

    expect(page).toEqual({ data: [one, two], nextCursor: expect.any(String), hasMore: false })
    expect(page.data[1]).toEqual((await service.get(`/api/activity/${two.id}`)).body)
    expect(await read(`?cursor=${page.nextCursor}`)).toEqual({ ...page, data: [] })
  })

  test('begin with the oldest activity when asked to, in pages of the limit', async () => {
    const alone = await startApp()
    const all = []
    for (let n = 0; n < 5; n++) all.push((await log({ type: 'x' }, alone)).id)
    const first = await read('?from=start&limit=2', { on: alone })
    const second = await read(`?from=start&limit=2&cursor=${first.nextCursor}`, { on: alone })
    const third = await read(`?limit=2&cursor=${second.nextCursor}`, { on: alone })
    await alone.close()

    const ids = [first, second, third].map(({ data }) => data.map(({ id }: { id: string }) => id))
    expect(ids).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)])
    expect([first, second, third].map(({ hasMore }) => hasMore)).toEqual([true, true, false])
  })

  test('match all filters, any of several types', async () => {
    const project = await service.given.project()
    const cursor = await cursorNow()
    await log({ type: 'a', message: 'service-wide' })
    await log({ type: 'a', message: 'a', projectId: project.id })
    await log({ type: 'b', message: 'b', projectId: project.id })
    await log({ type: 'c', message: 'c', projectId: project.id })

    const of = async (query: string) => messages(await read(`?cursor=${cursor}${query}`))
    expect(await of('')).toEqual(['service-wide', 'a', 'b', 'c'])
    expect(await of('&type=a')).toEqual(['service-wide', 'a'])
    expect(await of(`&projectId=${project.id}`)).toEqual(['a', 'b', 'c'])
    expect(await of(`&projectId=${project.id}&type=a&type=c`)).toEqual(['a', 'c'])
  })

  test('show a bound key only its own project', async () => {
    const [one, other] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: one.id })
    const cursor = await cursorNow()
    await log({ type: 'x', message: 'service-wide' })
    await log({ type: 'x', message: 'other', projectId: other.id })
    await log({ type: 'x', message: 'mine', projectId: one.id })

    expect(messages(await read(`?cursor=${cursor}`, { key }))).toEqual(['mine'])
    expect(messages(await readAll('?from=start', { key }))).toEqual(['mine'])
    expect((await read(`?projectId=${other.id}`, { key })).code).toBe('project_not_found')
  })

  test('have each task as it is now', async () => {
    const project = await service.given.project()
    const elsewhere = await service.given.project()
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: project.id })
    const cursor = await cursorNow()
    const list = { listId: project.inbox.id }
    const { body: changed } = await service.post('/api/tasks', { title: 'Before', ...list })
    const { body: deleted } = await service.post('/api/tasks', { title: 'Deleted', ...list })
    const { body: moved } = await service.post('/api/tasks', { title: 'Moved', ...list })
    await service.patch(`/api/tasks/${changed.id}`, { title: 'After' })
    await service.delete(`/api/tasks/${deleted.id}`)
    await service.patch(`/api/tasks/${moved.id}`, { listId: elsewhere.inbox.id })
    await log({ type: 'x', projectId: project.id })

    const { data } = await read(`?cursor=${cursor}&include=task`, { key })
    const { body: task } = await service.get(`/api/tasks/${changed.id}`)

    expect(
      data.map(({ type, task }: { type: string; task: { title: string } }) => [type, task?.title ?? null]),
    ).toEqual([
      ['task.created', 'After'],
      ['task.created', null],
      ['task.created', null],
      ['task.updated', 'After'],
      ['task.deleted', null],
      ['x', null],
    ])
    expect(data[0].task).toEqual(task)
    expect((await read(`?cursor=${cursor}`, { key })).data[0]).not.toHaveProperty('task')
  })

  test('with large tasks come in smaller pages, of which none misses or repeats any', async () => {
    const project = await service.given.project()
    const cursor = await cursorNow()
    const tasks = Array.from({ length: 60 }, (_, n) => ({ title: `${n}`, description: 'x'.repeat(65_000) }))
    await service.post('/api/tasks/bulk', { listId: project.inbox.id, tasks })
    for (let n = 0; n < 20; n++)
      await log({
        type: 'x',
        message: 'y'.repeat(4_000),
        projectId: project.id,
        metadata: { z: 'z'.repeat(16_000) },
      })

    const query = `?limit=200&projectId=${project.id}&include=task&cursor=`
    const ids = []
    let next = cursor
    let pages = 0
    for (let hasMore = true; hasMore; pages++) {
      const page = await read(`${query}${next}`)
      ids.push(...page.data.map(({ id }: { id: string }) => id))
      ;({ nextCursor: next, hasMore } = page)
    }

    expect(pages).toBeGreaterThan(1)
    expect(ids).toHaveLength(80)
    expect(new Set(ids).size).toBe(80)
  })

  test('that few match cost no more: a page may be empty and not the last', async () => {
    const project = await service.given.project()
    const cursor = await cursorNow()
    await service.query(
      `insert into activity (id, type, actor_type, actor_name, metadata, created_at)
       select gen_random_uuid(), 'many', 'system', 'test', '{}', now() from generate_series(1, 12000)`,
    )
    const mine = await log({ type: 'x', projectId: project.id })

    const first = await read(`?cursor=${cursor}&projectId=${project.id}`)
    expect([first.data, first.hasMore]).toEqual([[], true])
    const second = await read(`?cursor=${first.nextCursor}&projectId=${project.id}`)
    expect([second.data, second.hasMore]).toEqual([[], true])
    const third = await read(`?cursor=${second.nextCursor}&projectId=${project.id}`)
    expect([third.data, third.hasMore]).toEqual([[mine], false])
  })

  test('have the cursors of the stream', async () => {
    const cursor = await cursorNow()
    const listener = await listenTo(service)
    await log({ type: 'x', message: 'one' })
    await log({ type: 'x', message: 'two' })
    const events = await listener.until((events) => stored(events).length === 2)
    listener.close()

    expect(messages(await read(`?cursor=${stored(events)[0]?.id}`))).toEqual(['two'])
    const { nextCursor } = await read(`?cursor=${cursor}&limit=1`)
    const resumed = await listenTo(service, { lastEventId: nextCursor })
    const again = await resumed.until((events) => stored(events).length > 0)
    resumed.close()
    expect(stored(again).map(({ data }) => data.message)).toEqual(['two'])
  })

  test.each([
    ['of another epoch', (now: ChangePosition) => ({ ...now, epoch: UNKNOWN_ID })],
    ['of a position that was never given', (now: ChangePosition) => ({ ...now, position: now.position + 1 })],
  ])('reject a cursor %s', async (_, forge) => {
    const now = decodeChangeCursor(await cursorNow()) as ChangePosition
    const { status, body } = await service.get(`/api/changes?cursor=${encodeChangeCursor(forge(now))}`)
    expect([status, body.code, body.errors[0].path]).toEqual([400, 'invalid_cursor', 'query.cursor'])
  })

  test.each([
    ['cursor=x', 400, 'invalid_cursor', 'query.cursor'],
    ['cursor=', 400, 'validation_failed', 'query.cursor'],
    ['from=end', 400, 'validation_failed', 'query.from'],
    ['wait=61', 400, 'validation_failed', 'query.wait'],
    ['wait=-1', 400, 'validation_failed', 'query.wait'],
    ['limit=201', 400, 'validation_failed', 'query.limit'],
    ['include=list', 400, 'validation_failed', 'query.include'],
    ['type=A', 400, 'validation_failed', 'query.type'],
    ['since=2026-01-01T00:00:00Z', 400, 'validation_failed', 'query.since'],
    [`projectId=${UNKNOWN_ID}`, 404, 'project_not_found', undefined],
  ])('reject %s', async (query, status, code, path) => {
    const response = await service.get(`/api/changes?${query}`)
    expect([response.status, response.body.code, response.body.errors?.[0].path]).toEqual([
      status,
      code,
      path,
    ])
  })

  test('reject cursors from before an import or a restore, and begin again', async () => {
    const alone = await startApp()
    const { id } = await log({ type: 'x' }, alone)
    const { nextCursor } = await read('?from=start', { on: alone })
    await alone.repos.changes.renewEpoch()

    expect((await read(`?cursor=${nextCursor}`, { on: alone })).code).toBe('invalid_cursor')
    expect((await read('?from=start', { on: alone })).data[0].id).toBe(id)
    await alone.close()
  })
})
