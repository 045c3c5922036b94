import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

const COUNT = 30
const descriptionOf = (n: number) => `${n} "ü" `.repeat(9_000)

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

/** More text than is read at a time. */
async function givenLongTasks() {
  const { id: projectId, inbox } = await service.given.project()
  const tasks = Array.from({ length: COUNT }, (_, n) => ({
    title: `Task ${n}`,
    externalId: `${projectId} ${n}`,
    description: descriptionOf(n),
    metadata: { n },
  }))
  const { body } = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
  const named = tasks.map(({ title, externalId }) => ({ title, externalId }))
  return { listId: inbox.id, made: body.data, named, ids: body.data.map(({ id }: { id: string }) => id) }
}

describe('a bulk request that finds long tasks', () => {
  test('returns their summaries, in the order of the request, beside new ones', async () => {
    const { listId, made, named } = await givenLongTasks()
    const tasks = [named[7], { title: 'New', description: 'Short' }, ...named.toReversed(), named[7]]
    const { status, body, headers } = await service.post('/api/tasks/bulk', { listId, tasks })
    expect([status, body.created, body.existing]).toEqual([201, 1, COUNT + 2])
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    for (const task of body.data)
      for (const long of ['description', 'notes', 'metadata']) expect(task).not.toHaveProperty(long)
    expect(body.data[1]).toMatchObject({ title: 'New', version: 1 })
    expect(body.data.toSpliced(1, 1)).toEqual([made[7], ...made.toReversed(), made[7]])
  })

  test('returns them in the results of onError=continue', async () => {
    const { listId, made, named } = await givenLongTasks()
    const tasks = [{ title: '' }, ...named]
    const { status, body } = await service.post('/api/tasks/bulk?onError=continue', { listId, tasks })
    expect([status, body.failed, body.existing]).toEqual([207, 1, COUNT])
    expect(body.results[0]).toMatchObject({ index: 0, status: 'failed' })
    expect(body.results.slice(1)).toEqual(
      made.map((task: object, n: number) => ({ index: n + 1, status: 'existing', task })),
    )
  })

  test.each([
    ['with something new is stored and replayed', [{ title: 'New' }], 'true'],
    ['without anything new is not stored', [], null],
  ])('and has an Idempotency-Key, %s', async (_, more, replayed) => {
    const { listId, made, named } = await givenLongTasks()
    const headers = { 'idempotency-key': listId }
    const send = () => service.post('/api/tasks/bulk', { listId, tasks: [...named, ...more] }, { headers })
    const first = await send()
    expect(first.status).toBe(201)
    expect(first.body.data.slice(0, COUNT)).toEqual(made)
    const again = await send()
    expect(again.headers.get('idempotency-replayed')).toBe(replayed)
    expect(again.body).toEqual(first.body)
  })

  test('is replayed without the tasks when the key has lost tasks:read', async () => {
    const { listId, named } = await givenLongTasks()
    const { id, key } = (
      await service.post('/api/keys', { name: 'k', scopes: ['tasks:read', 'tasks:write'] })
    ).body
    const options = { key, headers: { 'idempotency-key': listId } }
    const tasks = [{ title: 'New' }, ...named]
    const first = await service.post('/api/tasks/bulk', { listId, tasks }, options)
    await service.query("update api_keys set scopes = '{tasks:write}' where id = $1", [id])
    service.service.access.forget()
    const again = await service.post('/api/tasks/bulk', { listId, tasks }, options)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const { data, ...counts } = first.body
    const versions = data.map(({ id }: { id: string }) => ({ id, version: 1 }))
    expect(again.body).toEqual({ ...counts, data: versions })
  })

  test('returns versions to a key without tasks:read', async () => {
    const { listId, made, named } = await givenLongTasks()
    const key = await service.given.key({ scopes: ['tasks:write'] })
    const { body } = await service.post('/api/tasks/bulk', { listId, tasks: named }, { key })
    expect(body.data).toEqual(made.map(({ id }: { id: string }) => ({ id, version: 1 })))
  })
})

describe('a bulk change of long tasks', () => {
  const change = (ids: string[], change: object, key = service.adminKey) =>
    service.patch('/api/tasks/bulk', { ids, change }, { key })

  test('returns their summaries, in the order of the request, as they are now', async () => {
    const { made, ids } = await givenLongTasks()
    const { status, body } = await change(ids.toReversed(), { priority: 'high' })
    expect([status, body.unchanged]).toEqual([200, 0])
    expect(body.data).toEqual(
      made.toReversed().map((task: object) => ({
        ...task,
        priority: 'high',
        triaged: true,
        version: 2,
        updatedAt: expect.any(String),
      })),
    )
    for (const n of [0, COUNT - 1])
      expect((await service.get(`/api/tasks/${body.data[n].id}`)).body).toMatchObject(body.data[n])
  })

  test.each([
    ['a description', { description: descriptionOf(COUNT - 1) }],
    ['metadata', { metadata: { n: COUNT - 1 } }],
  ])('to %s that one of them has counts it as unchanged', async (_, values) => {
    const { ids } = await givenLongTasks()
    const { body } = await change(ids, values)
    expect(body.unchanged).toBe(1)
    const versions = body.data.map(({ version }: { version: number }) => version)
    expect(versions).toEqual([...Array(COUNT - 1).fill(2), 1])
    for (const id of ids) expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject(values)
  })

  test('names every one of them that may not change, and changes nothing', async () => {
    const { ids, made } = await givenLongTasks()
    await service.query("update tasks set source = 'analytics' where id = any($1)", [ids])
    const { status, body } = await change(ids, { description: descriptionOf(0) })
    expect([status, body.code]).toEqual([403, 'description_read_only'])
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(
      ids.slice(1).map((_: string, n: number) => `/ids/${n + 1}`),
    )
    expect((await service.get(`/api/tasks/${ids[1]}`)).body.version).toBe(made[1].version)
  })

  test('returns versions to a key without tasks:read', async () => {
    const { ids } = await givenLongTasks()
    const key = await service.given.key({ scopes: ['tasks:write'] })
    const { body } = await change(ids, { notes: 'New' }, key)
    expect(body.data).toEqual(ids.map((id: string) => ({ id, version: 2 })))
  })
})
