import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Task } from '../../src/schemas/task.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { countIn } from '../support/counts.ts'

const MODES = ['', '?onError=abort', '?onError=continue']

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

describe('a large batch', () => {
  const text = 'Was für ein Text 😀. '.repeat(1_400)
  const large = (count = 100) =>
    Array.from({ length: count }, (_, n) => ({ title: ` Task ${n} `, description: `${n} ${text}` }))

  test.each(MODES)('gives the same results as a small one: %j', async (mode) => {
    const { id, inbox } = await service.given.project()

    const made = await service.post(`/api/tasks/bulk${mode}`, { listId: inbox.id, tasks: large() })

    expect(made.status).toBe(mode === MODES[2] ? 207 : 201)
    expect(made.body.created).toBe(100)
    expect(made.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const tasks: Task[] = made.body.data ?? made.body.results.map(({ task }: { task: Task }) => task)
    expect(tasks.map(({ title }) => title)).toEqual(large().map(({ title }) => title.trim()))
    for (const n of [0, 50, 99]) {
      const { body } = await service.get(`/api/tasks/${tasks[n]?.id}`)
      expect(body).toMatchObject({ ...tasks[n], description: large()[n]?.description })
    }
    expect(await countIn(service, id)).toEqual({ tasks: 100, activities: 100 })
  })

  test('has every invalid item named, and creates nothing', async () => {
    const { id, inbox } = await service.given.project()
    const tasks = large().map((task, n) => (n % 50 === 7 ? { ...task, nope: 1 } : task))

    const refused = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
    const partial = await service.post('/api/tasks/bulk?onError=continue', { listId: inbox.id, tasks })

    expect(refused.status).toBe(400)
    expect(refused.body.errors).toMatchObject([{ path: '/tasks/7/nope' }, { path: '/tasks/57/nope' }])
    expect([partial.status, partial.body.created, partial.body.failed]).toEqual([207, 98, 2])
    expect(partial.body.results[57]).toMatchObject({ status: 'failed', errors: [{ path: '/tasks/57/nope' }] })
    expect(await countIn(service, id)).toEqual({ tasks: 98, activities: 98 })
  })

  test('finds existing tasks by externalId, in all parts of it', async () => {
    const { inbox } = await service.given.project()
    const tasks = large().map((task, n) => ({ ...task, externalId: `x-${n % 60}` }))

    const made = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })

    expect([made.status, made.body.created, made.body.existing]).toEqual([201, 60, 40])
    expect(made.body.data[75].id).toBe(made.body.data[15].id)
  })

  test('is processed once for an Idempotency-Key', async () => {
    const { id, inbox } = await service.given.project()
    const send = (tasks: unknown) =>
      service.post('/api/tasks/bulk', { listId: inbox.id, tasks }, { headers: { 'idempotency-key': id } })

    const first = await send(large())
    const again = await send(large())
    const other = await send(large(99))
    const changed = await send(large().with(50, { title: 'Another', description: text }))

    expect(first.status).toBe(201)
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(again.body).toEqual(first.body)
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused'])
    expect([changed.status, changed.body.code]).toEqual([422, 'idempotency_key_reused'])
    expect(await countIn(service, id)).toEqual({ tasks: 100, activities: 100 })
  })

  test('over 4 MiB is 413, and says what to do', async () => {
    const { inbox } = await service.given.project()
    const tasks = large().map((task) => ({ ...task, description: 'x'.repeat(43_000) }))
    const { status, body } = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
    expect([status, body.code]).toEqual([413, 'body_too_large'])
    expect(body.detail).toBe(
      'The body is larger than the limit of 4194304 bytes. Send fewer tasks in one request.',
    )
  })
})
