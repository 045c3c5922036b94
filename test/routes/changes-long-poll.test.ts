import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

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

describe('a long poll', () => {
  const timed = async <T>(work: Promise<T>) => {
    const since = Date.now()
    return { result: await work, ms: Date.now() - since }
  }
  /** Until it waits. On a slow machine, it may find the change without waiting for it. */
  const waiting = () => sleep(200)

  test('returns at once if there is something', async () => {
    const cursor = await cursorNow()
    const { id } = await log({ type: 'x' })
    const { result, ms } = await timed(read(`?cursor=${cursor}&wait=30`))
    expect(result.data[0].id).toBe(id)
    expect(ms).toBeLessThan(10_000)
  })

  test('returns as soon as something comes, on any instance, and only what matches', async () => {
    const other = await startApp({ connectionString: service.connectionString })
    const project = await service.given.project()
    const { inbox } = project
    const cursor = await cursorNow()
    const polls = [
      timed(read(`?cursor=${cursor}&wait=30`)),
      timed(read(`?cursor=${cursor}&wait=30&type=second&type=third`)),
      timed(read(`?cursor=${cursor}&wait=30&projectId=${project.id}&include=task`, { on: other })),
      timed(read(`?cursor=${cursor}&wait=30`, { on: other })),
    ]
    await waiting()
    const first = await log({ type: 'first' })
    await polls[0]
    const second = await log({ type: 'second' })
    await polls[1]
    const { body: task } = await service.post('/api/tasks', { title: 'Third', listId: inbox.id })
    const results = await Promise.all(polls)

    for (const { ms } of results) expect(ms).toBeLessThan(20_000)
    const [one, two, three, four] = results.map(({ result }) => result)
    expect(one.data.map(({ id }: { id: string }) => id)).toEqual([first.id])
    expect(two.data.map(({ id }: { id: string }) => id)).toEqual([second.id])
    expect(three.data.map(({ type, task }: { type: string; task: object }) => [type, task])).toEqual([
      ['task.created', task],
    ])
    expect(four.data[0].id).toBe(first.id)
    // Each continues where it ended.
    expect((await read(`?cursor=${one.nextCursor}&type=second`)).data[0].id).toBe(second.id)
    expect((await read(`?cursor=${three.nextCursor}`)).data).toEqual([])
    await other.close()
  })

  test('returns nothing at its end, with a cursor after everything that did not match', async () => {
    const cursor = await cursorNow()
    const poll = timed(read(`?cursor=${cursor}&wait=1&type=never`))
    await sleep(300)
    await log({ type: 'x' })
    const { result, ms } = await poll

    expect(ms).toBeGreaterThan(900)
    expect(result).toMatchObject({ data: [], hasMore: false })
    expect((await read(`?cursor=${result.nextCursor}`)).data).toEqual([])
  })

  test('ends with 401 when its key is revoked', async () => {
    const key = await service.given.key({ name: 'to be revoked' })
    const { body: me } = await service.get('/api/me', { key })
    const poll = timed(service.get('/api/changes?wait=60&type=never', { key }))
    await waiting()
    await service.delete(`/api/keys/${me.id}`)
    const { result, ms } = await poll

    expect([result.status, result.body.code]).toEqual([401, 'invalid_credentials'])
    expect(ms).toBeLessThan(30_000)
  })

  test('ends when the instance shuts down', async () => {
    const instance = await startApp({ connectionString: service.connectionString })
    const cursor = (await read('', { on: instance })).nextCursor
    const poll = read(`?cursor=${cursor}&wait=60`, { on: instance })
    await waiting()
    const { ms } = await timed(instance.close())

    expect(await poll).toEqual({ data: [], nextCursor: cursor, hasMore: false })
    expect(ms).toBeLessThan(10_000)
  })

  test('of a client that has disconnected leaves nothing behind', async () => {
    const instance = await startApp({ connectionString: service.connectionString })
    const leaving = new AbortController()
    const headers = { 'x-api-key': instance.adminKey }
    const poll = fetch(`${instance.url}/api/changes?wait=60`, { headers, signal: leaving.signal })
    await waiting()
    leaving.abort()
    await expect(poll).rejects.toThrow()

    // The reader ends with its last subscriber.
    await instance.service.feed.idle()
    await instance.close()
  })

  test('has a limit of its own, and needs no connection to the database while it waits', async () => {
    const instance = await startApp()
    const key = await instance.given.key()
    const { nextCursor } = await read('', { on: instance })
    const url = `/api/changes?cursor=${nextCursor}&wait=60`
    const poll = () => instance.get(url, { key })
    const polls = Array.from({ length: 20 }, poll)
    await expect
      .poll(async () => {
        const response = await instance.get('/api/changes?wait=1', { key })
        // It was counted before one of the others, which was refused.
        if (response.status === 200) polls.push(poll())
        return [response.status, response.body.code]
      })
      .toEqual([429, 'rate_limited'])

    expect((await instance.get('/api/changes', { key })).status).toBe(200)
    expect((await instance.get('/api/me', { key })).status).toBe(200)
    const { id } = await log({ type: 'x' }, instance)
    const held = (await Promise.all(polls)).filter(({ status }) => status === 200)
    // More than the pool has.
    expect(held.map(({ body }) => body.data[0].id)).toEqual(Array(20).fill(id))
    await instance.close()
  })
})
