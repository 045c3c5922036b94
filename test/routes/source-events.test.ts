import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { deliveriesOf } from '../support/deliveries.ts'
import { sourceOf } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const eventsOf = (id: string, query = '') => deliveriesOf(service, `sourceId=${id}${query}`)

describe('a test of a source', () => {
  const template = { title: '{{ item.title }}', externalId: '{{ item.id }}', priority: '{{ item.priority }}' }

  test('shows the tasks that a new source would make, and creates nothing', async () => {
    const { status, body } = await service.post('/api/sources/test', {
      source: { each: 'payload.items', filter: 'item.title', template },
      payload: {
        items: [{ title: 'A', id: 1, priority: 'huge' }, { id: 2 }, { title: 'C' }, { title: 'D', id: 1 }],
      },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      outcome: 'accepted',
      filtered: 1,
      tasks: [
        { item: 0, task: { title: 'A', externalId: '1' }, existingTaskId: null },
        { item: 2, task: { title: 'C' }, explanation: expect.stringContaining('each delivery creates one') },
        { item: 3, task: { title: 'D' }, explanation: expect.stringContaining('earlier item') },
      ],
      errors: [
        { path: '/template/priority', code: 'not_allowed', message: expect.stringContaining('item 0') },
      ],
    })
    expect(await service.query('select 1 from tasks')).toEqual([])
  })

  test.each<[string, object, string]>([
    ['a template that does not parse', { template: { title: '{{ a | b }}' } }, '/template/title'],
    ['a path that leads to no array', { each: 'payload.items', template }, '/items'],
    ['no title', { template: { title: '{{ payload.nothing }}' } }, '/template/title'],
  ])('shows why a payload would be rejected: %s', async (_, source, path) => {
    const { status, body } = await service.post('/api/sources/test', { source, payload: { a: 1 } })
    expect([status, body.outcome, body.errors[0].path]).toEqual([200, 'rejected', path])
  })

  test('says that a delivery, or a replay of it, would reopen a task that is done', async () => {
    const { source, send } = await sourceOf(service, {
      template: { ...template, status: '{{ payload.state }}' },
    })
    const payload = { id: 8, title: 'Disk full', state: 'open' }
    const { taskId, deliveryId } = (await send(payload)).body
    const path = `/api/sources/${source.id}`
    const tested = async (body: object) => (await service.post(`${path}/test`, body)).body.tasks
    const stays = [{ existingTaskId: taskId, reopens: false, explanation: expect.stringMatching(/^Updates/) }]
    expect(await tested({ deliveryId })).toMatchObject(stays)
    await service.patch(`/api/tasks/${taskId}`, { status: 'done' })
    expect(await tested({ payload: { ...payload, state: 'done' } })).toMatchObject(stays)
    const explanation = 'Reopens the task with the external ID 8, which is done.'
    for (const body of [{ payload }, { deliveryId }])
      expect(await tested(body)).toMatchObject([{ existingTaskId: taskId, reopens: true, explanation }])
    await service.post(`/api/deliveries/${deliveryId}/replay`)
    expect((await service.get(`/api/tasks/${taskId}`)).body.status).toBe('open')
  })

  test('says so of a task without an external ID, and of the one that a task is merged into', async () => {
    const { source, send } = await sourceOf(service, {
      template: { title: '{{ payload.t }}', status: 'open' },
    })
    const { taskId, deliveryId, projectId } = (await send({ t: 'A' })).body
    const path = `/api/sources/${source.id}/test`
    await service.patch(`/api/tasks/${taskId}`, { status: 'done' })
    expect((await service.post(path, { deliveryId })).body.tasks).toMatchObject([
      { reopens: true, explanation: 'Reopens the task “A”, which is done.' },
    ])
    const list = (await service.get(`/api/tasks/${taskId}`)).body.listId
    const target = (await service.post('/api/tasks', { title: 'B', listId: list })).body
    await service.post(`/api/tasks/${taskId}/merge`, { into: target.id })
    expect((await service.post(path, { deliveryId })).body.tasks).toMatchObject([{ reopens: false }])
    await service.patch(`/api/tasks/${target.id}`, { status: 'done' })
    const [{ reopens, explanation }] = (await service.post(path, { deliveryId })).body.tasks
    expect([projectId, reopens]).toEqual([target.projectId, true])
    expect(explanation).toContain('reopens “B”')
  })

  test('shows which task would be updated, by a payload or an event', async () => {
    const { source, send } = await sourceOf(service, { template })
    const { taskId, deliveryId } = (await send({ id: 7, title: 'Known' })).body
    const path = `/api/sources/${source.id}/test`
    for (const body of [{ payload: { id: 7, title: 'Again' } }, { deliveryId }]) {
      const result = await service.post(path, body)
      expect(result.body.tasks).toMatchObject([{ existingTaskId: taskId }])
    }
    expect((await service.get(`/api/tasks/${taskId}`)).body).toMatchObject({ title: 'Known', version: 1 })
    for (const body of [{}, { payload: {}, deliveryId }]) {
      expect((await service.post(path, body)).body.errors[0].path).toBe('/payload')
    }
    const unknown = await service.post(path, { deliveryId: source.id })
    expect([unknown.status, unknown.body.code]).toEqual([404, 'delivery_not_found'])
  })
})

describe('the inbox of a source', () => {
  test('lists deliveries, newest first, by outcome and in pages', async () => {
    const { source, send } = await sourceOf(service, { filter: 'payload.ok' })
    await send({ ok: true, title: 'A' }, { id: 'msg_a' })
    await send({ ok: false, title: 'B' })
    await send({ ok: true })
    const events = await eventsOf(source.id)
    expect(events.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'rejected',
      'filtered',
      'accepted',
    ])
    expect(events[2]).toMatchObject({ sourceId: source.id, senderId: 'msg_a', duplicates: 0, errors: null })
    expect(events[2].payload).toEqual({ ok: true, title: 'A' })
    expect(await eventsOf(source.id, '&outcome=filtered')).toEqual([events[1]])
    const page = (await service.get(`/api/deliveries?sourceId=${source.id}&limit=2`)).body
    const first = await eventsOf(source.id, '&limit=2')
    const next = await eventsOf(source.id, `&limit=2&cursor=${page.nextCursor}`)
    expect([...first, ...next]).toEqual(events)
  })

  test('is empty for keys of other projects', async () => {
    const { source, send } = await sourceOf(service)
    await send({ title: 'A' })
    const { id: projectId } = await service.given.project()
    const key = await service.given.key({ scopes: ['admin'], projectId })
    const { status, body } = await service.get(`/api/deliveries?sourceId=${source.id}`, { key })
    expect([status, body.data]).toEqual([200, []])
  })

  test('loses what is past its retention', async () => {
    const { source, send } = await sourceOf(service, { filter: 'payload.ok' })
    await send({ ok: true, title: 'A' })
    await send({ title: 'B' })
    const past = new Date(Date.now() - 40 * 86_400_000).getTime().toString(16).padStart(12, '0')
    await service.query(
      `update deliveries set id = overlay(id::text placing $2 from 1 for 13)::uuid where source_id = $1`,
      [source.id, `${past.slice(0, 8)}-${past.slice(8)}`],
    )
    await service.service.cleanup.cleanUp()
    expect(await eventsOf(source.id)).toMatchObject([{ outcome: 'accepted', payload: null }])
  })
})
