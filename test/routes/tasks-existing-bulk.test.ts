import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BulkItem } from '../../src/schemas/bulk.ts'
import type { TestApp } from '../support/app.ts'
import { tally, times } from '../support/concurrent.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

const BULK = '/api/tasks/bulk?onExisting=update'

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

describe('onExisting=update in bulk', () => {
  test('creates, updates and leaves, and counts each', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    const send = (query: string, tasks: object[]) =>
      service.post(`/api/tasks/bulk${query}`, { listId: project.inbox.id, tasks })
    const { body: before } = await service.post('/api/tasks', {
      title: 'Disk full',
      externalId: 'x-1',
      description: 'On db-1',
      labels: ['disk'],
      listId: list.id,
    })
    await send('', [{ title: 'Same', externalId: 'same' }])

    const response = await send('?onExisting=update', [
      { title: 'New', externalId: 'new' },
      { title: 'Disk full again', externalId: 'x-1' },
      { title: 'Same', externalId: 'same' },
      { title: 'Plain' },
    ])

    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({ created: 2, updated: 1, existing: 1 })
    expect(response.body.data).toMatchObject([
      { title: 'New', version: 1 },
      // In bulk the list is where new tasks go: one that was sorted elsewhere stays there.
      { id: before.id, title: 'Disk full again', labels: ['disk'], listId: list.id, version: 2 },
      { title: 'Same', version: 1 },
      { title: 'Plain', version: 1 },
    ])
  })

  test('has a result for each item with onError=continue', async () => {
    const { inbox } = await service.given.project()
    await service.post('/api/tasks', { title: 'Old', externalId: 'old', listId: inbox.id })
    await service.post('/api/tasks', { title: 'Same', externalId: 'same', listId: inbox.id })

    const response = await service.post(`${BULK}&onError=continue`, {
      listId: inbox.id,
      tasks: [
        { title: 'New', externalId: 'new' },
        { title: '' },
        { title: 'Newer', externalId: 'old' },
        { title: 'Same', externalId: 'same' },
      ],
    })

    expect(response.status).toBe(207)
    expect(response.body).toMatchObject({ created: 1, updated: 1, existing: 1, failed: 1 })
    expect(response.body.results.map(({ status }: BulkItem) => status)).toEqual([
      'created',
      'failed',
      'updated',
      'existing',
    ])
  })

  test('applies several items for one task in their order', async () => {
    const { inbox } = await service.given.project()
    await service.post('/api/tasks', { title: 'Old', externalId: 'old', listId: inbox.id })
    const tasks = [
      { title: 'B1', externalId: 'old', labels: ['b'] },
      { title: 'A1', externalId: 'new', priority: 'low' },
      { title: 'B2', externalId: 'old' },
      { title: 'A2', externalId: 'new' },
      { title: 'A2', externalId: 'new' },
    ]

    const response = await service.post(BULK, { listId: inbox.id, tasks })

    expect(response.body).toMatchObject({ created: 1, updated: 3, existing: 1 })
    const [existing, made] = [
      { title: 'B2', labels: ['b'], version: 3 },
      { title: 'A2', priority: 'low', version: 2 },
    ]
    expect(response.body.data).toMatchObject([existing, made, existing, made, made])
    for (const task of response.body.data) {
      expect((await service.get(`/api/tasks/${task.id}`)).body).toMatchObject(task)
    }
    const logged = await service.query(
      'select type from activity where task_id = $1 order by created_at, id',
      [response.body.data[0].id],
    )
    expect(logged.map(({ type }) => type)).toEqual(['task.created', 'task.updated', 'task.updated'])
  })

  test('reopens what is done only with reopen=true', async () => {
    const { inbox } = await service.given.project()
    const tasks = [{ title: 'A', externalId: 'a' }]
    const { body } = await service.post(BULK, { listId: inbox.id, tasks })
    const [{ id }] = body.data
    await service.patch(`/api/tasks/${id}`, { status: 'done' })

    const kept = await service.post(BULK, { listId: inbox.id, tasks })
    const opened = await service.post(`${BULK}&reopen=true`, { listId: inbox.id, tasks })

    expect(kept.body).toMatchObject({ existing: 1, data: [{ status: 'done', version: 2 }] })
    expect(opened.body).toMatchObject({ updated: 1, data: [{ status: 'open', version: 3 }] })
  })

  test('updates as many tasks with descriptions of the maximum size as fit', async () => {
    const { inbox } = await service.given.project()
    const tasksWith = (text: string) =>
      Array.from({ length: 60 }, (_, n) => ({
        title: `Task ${n}`,
        externalId: `${n}`,
        description: text.repeat(65_536),
        metadata: { n },
      }))
    await service.post(BULK, { listId: inbox.id, tasks: tasksWith('a') })

    const updated = await service.post(BULK, { listId: inbox.id, tasks: tasksWith('b') })
    const again = await service.post(BULK, { listId: inbox.id, tasks: tasksWith('b') })

    expect(updated.body).toMatchObject({ created: 0, updated: 60, existing: 0 })
    expect(again.body).toMatchObject({ created: 0, updated: 0, existing: 60 })
    expect(again.body.data).toEqual(updated.body.data)
    for (const [n, { id }] of updated.body.data.entries()) {
      const { body } = await service.get(`/api/tasks/${id}`)
      expect(body).toMatchObject({ metadata: { n }, version: 2 })
      expect(body.description === 'b'.repeat(65_536)).toBe(true)
    }
  })

  test('is done once for an Idempotency-Key', async () => {
    const { inbox } = await service.given.project()
    const headers = { 'idempotency-key': `bulk-${inbox.id}` }
    const send = (title: string, options = {}) =>
      service.post(BULK, { listId: inbox.id, tasks: [{ title, externalId: 'a' }] }, options)
    await send('A')

    const first = await send('B', { headers })
    await send('C')
    const replay = await send('B', { headers })

    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(replay.body).toEqual(first.body)
    expect(first.body).toMatchObject({ updated: 1, data: [{ title: 'B', version: 2 }] })
  })

  test('of the same tasks in other orders race without an error, and each change counts', async () => {
    const { inbox } = await service.given.project()
    const ids = Array.from({ length: 30 }, (_, n) => `${n}`)

    const responses = await times(8, (n) => {
      const order = n % 2 ? ids.toReversed() : ids
      const tasks = order.map((externalId) => ({ title: `By ${n}`, externalId, labels: [`${n}`] }))
      return (n % 2 ? second : service).post(BULK, { listId: inbox.id, tasks })
    })

    expect(tally(responses)).toEqual({ 201: 8 })
    expect(responses.reduce((sum, { body }) => sum + body.created, 0)).toBe(30)
    expect(responses.reduce((sum, { body }) => sum + body.updated, 0)).toBe(7 * 30)
    const rows = await service.query(
      `select version, (select count(*)::int from activity where task_id = tasks.id) as logged, labels, title
       from tasks where list_id = $1`,
      [inbox.id],
    )
    expect(rows).toHaveLength(30)
    for (const { version, logged, labels, title } of rows) {
      expect([version, logged, title]).toEqual([8, 8, `By ${labels[0]}`])
    }
  })
})
