import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BulkItem } from '../../src/schemas/bulk.ts'
import type { Task } from '../../src/schemas/task.ts'
import type { TestApp } from '../support/app.ts'
import { tally, times } from '../support/concurrent.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

const UPDATE = '/api/tasks?onExisting=update'
const BULK = '/api/tasks/bulk?onExisting=update'

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

const FULL = {
  title: 'Disk full',
  description: 'On db-1',
  priority: 'high',
  externalId: 'x-1',
  externalUrl: 'https://a.example/1',
  labels: ['disk'],
  assignees: ['ada'],
  metadata: { host: 'db-1' },
}

const activityOf = (taskId: string) =>
  service.query(
    `select type, metadata, actor_name as "actor" from activity where task_id = $1
     order by created_at, id`,
    [taskId],
  )

describe('onExisting=update', () => {
  test('creates a task whose externalId is new', async () => {
    const { inbox } = await service.given.project()

    const made = await service.post(UPDATE, { ...FULL, listId: inbox.id })

    expect(made).toMatchObject({ status: 201, body: { ...FULL, version: 1 } })
    expect(made.headers.get('location')).toBe(`/api/tasks/${made.body.id}`)
  })

  test('creates a task each time without an externalId', async () => {
    const responses = [await service.post(UPDATE, { title: 'A' }), await service.post(UPDATE, { title: 'A' })]

    expect(responses.map(({ status }) => status)).toEqual([201, 201])
  })

  test('updates only the fields that were sent', async () => {
    const { inbox } = await service.given.project()
    const key = await service.given.key({ name: 'Monitor' })
    const first = await service.post('/api/tasks', { ...FULL, listId: inbox.id })

    const updated = await service.post(
      UPDATE,
      { title: 'Disk nearly full', listId: inbox.id, externalId: 'x-1', labels: [], description: null },
      { key },
    )

    expect(updated.status).toBe(200)
    expect(updated.headers.get('etag')).toBe('"2"')
    expect(updated.body).toEqual({
      ...first.body,
      title: 'Disk nearly full',
      labels: [],
      description: null,
      updatedAt: updated.body.updatedAt,
      version: 2,
    })
    expect((await service.get(`/api/tasks/${first.body.id}`)).body).toEqual(updated.body)
    const [, change] = await activityOf(first.body.id)
    expect(change).toEqual({
      type: 'task.updated',
      actor: 'Monitor',
      metadata: {
        changes: {
          title: { from: 'Disk full', to: 'Disk nearly full' },
          labels: { from: ['disk'], to: [] },
          description: 'changed',
        },
      },
    })
  })

  test('that changes nothing keeps the version and writes no activity', async () => {
    const { inbox } = await service.given.project()
    const first = await service.post('/api/tasks', { ...FULL, listId: inbox.id })

    const again = await service.post(UPDATE, { ...FULL, listId: inbox.id })

    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    expect(await activityOf(first.body.id)).toHaveLength(1)
  })

  test('keeps a priority that was not sent', async () => {
    const { inbox } = await service.given.project()
    const first = await service.post('/api/tasks', { ...FULL, listId: inbox.id })
    const { priority: _, ...sent } = FULL

    for (const [path, body] of [
      [UPDATE, { ...sent, title: '1', listId: inbox.id }],
      [BULK, { listId: inbox.id, tasks: [{ ...sent, title: '2' }] }],
    ] as const) {
      expect((await service.post(path, body)).status).toBeLessThan(300)
      expect((await service.get(`/api/tasks/${first.body.id}`)).body.priority).toBe('high')
    }
  })

  test('moves a task to the list that was sent, and leaves it where it is without one', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    const key = await service.given.key({ projectId: project.id })
    await service.post('/api/tasks', { title: 'A', externalId: 'x', listId: list.id })

    const stays = await service.post(UPDATE, { title: 'B', externalId: 'x' }, { key })
    const moved = await service.post(UPDATE, { title: 'B', externalId: 'x', listId: project.inbox.id })

    expect(stays.body).toMatchObject({ title: 'B', listId: list.id, version: 2 })
    expect(moved.body).toMatchObject({ title: 'B', listId: project.inbox.id, version: 3 })
  })

  test('opens a task that is done only with reopen=true', async () => {
    const { inbox } = await service.given.project()
    const input = { title: 'A', externalId: 'x', listId: inbox.id }
    const { id } = (await service.post('/api/tasks', input)).body
    await service.patch(`/api/tasks/${id}`, { status: 'done' })

    const kept = await service.post(UPDATE, { ...input, title: 'B' })
    const opened = await service.post(`${UPDATE}&reopen=true`, { ...input, title: 'B' })

    expect(kept.body).toMatchObject({ title: 'B', status: 'done', version: 3 })
    expect(opened.body).toMatchObject({ title: 'B', status: 'open', completedAt: null, version: 4 })
    expect((await activityOf(id)).map(({ type }) => type)).toEqual([
      'task.created',
      'task.completed',
      'task.updated',
      'task.reopened',
    ])
  })

  test('leaves a task in progress as it is with reopen=true', async () => {
    const { inbox } = await service.given.project()
    const input = { title: 'A', externalId: 'x', listId: inbox.id }
    const { id } = (await service.post('/api/tasks', input)).body
    await service.patch(`/api/tasks/${id}`, { status: 'in_progress' })

    const again = await service.post(`${UPDATE}&reopen=true`, input)

    expect(again.body).toMatchObject({ status: 'in_progress', version: 2 })
  })

  test('without it leaves an existing task as it is, also with reopen=true', async () => {
    const { inbox } = await service.given.project()
    const input = { title: 'A', externalId: 'x', listId: inbox.id }
    const { id } = (await service.post('/api/tasks', input)).body
    await service.patch(`/api/tasks/${id}`, { status: 'done' })

    for (const query of ['?reopen=true', '?onExisting=return&reopen=true']) {
      const again = await service.post(`/api/tasks${query}`, { ...input, title: 'B' })
      expect(again).toMatchObject({ status: 200, body: { title: 'A', status: 'done', version: 2 } })
    }
  })

  test('updates no task of another source, nor a deleted one', async () => {
    const { inbox } = await service.given.project()
    const theirs = await service.given.task(inbox, { source: 'codehost', externalId: 'x', title: 'Theirs' })
    const deleted = await service.post('/api/tasks', { title: 'Old', externalId: 'x', listId: inbox.id })
    await service.delete(`/api/tasks/${deleted.body.id}`)

    const made = await service.post(UPDATE, { title: 'New', externalId: 'x', listId: inbox.id })

    expect(made.status).toBe(201)
    expect((await service.get(`/api/tasks/${theirs.id}`)).body).toMatchObject({ title: 'Theirs', version: 1 })
  })

  test('is refused in an archived project', async () => {
    const project = await service.given.project()
    const input = { title: 'A', externalId: 'x', listId: project.inbox.id }
    const { id } = (await service.post('/api/tasks', input)).body
    await service.post(`/api/projects/${project.id}/archive`)

    const refused = await service.post(UPDATE, { ...input, title: 'B' })

    expect(refused).toMatchObject({ status: 409, body: { code: 'project_archived' } })
    expect((await service.get(`/api/tasks/${id}`)).body.title).toBe('A')
  })

  test('returns only the id and version to a key without tasks:read', async () => {
    const { inbox } = await service.given.project()
    const key = await service.given.key({ scopes: ['tasks:write'] })
    const input = { title: 'A', externalId: 'x', listId: inbox.id }
    const { id } = (await service.post('/api/tasks', input)).body

    const updated = await service.post(UPDATE, { ...input, title: 'B' }, { key })

    expect(updated).toMatchObject({ status: 200, body: { id, version: 2 } })
    expect(Object.keys(updated.body)).toEqual(['id', 'version'])
  })

  test('is done once for an Idempotency-Key', async () => {
    const { inbox } = await service.given.project()
    const input = { title: 'A', externalId: 'x', listId: inbox.id }
    const { id } = (await service.post('/api/tasks', input)).body
    const send = (title: string, query = '') =>
      service.post(UPDATE + query, { ...input, title }, { headers: { 'idempotency-key': `once-${id}` } })

    const first = await send('B')
    await service.patch(`/api/tasks/${id}`, { title: 'C' })
    const replay = await send('B')

    expect(first).toMatchObject({ status: 200, body: { title: 'B', version: 2 } })
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(replay.body).toEqual(first.body)
    expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject({ title: 'C', version: 3 })
    expect((await send('B', '&reopen=true')).body.code).toBe('idempotency_key_reused')
  })

  test.each([
    ['onExisting=merge', 'query.onExisting'],
    ['onExisting=update&reopen=maybe', 'query.reopen'],
    ['onexisting=update', 'query.onexisting'],
  ])('rejects %s', async (query, path) => {
    const refused = await service.post(`/api/tasks?${query}`, { title: 'A' })

    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('that races creates one task, and loses no change and no activity', async () => {
    const { inbox } = await service.given.project()

    const responses = await times(40, (n) =>
      (n % 2 ? second : service).post(UPDATE, { title: `T${n}`, externalId: 'x', listId: inbox.id }),
    )

    expect(tally(responses)).toEqual({ 200: 39, 201: 1 })
    expect(responses.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, n) => n + 1),
    )
    const [{ id }] = responses.map(({ body }) => body)
    const logged = await activityOf(id)
    expect(logged).toHaveLength(40)
    const last = responses.find(({ body }) => body.version === 40)?.body
    expect((await service.get(`/api/tasks/${id}`)).body).toEqual(last)
  })
})

describe('onExisting=update in bulk', () => {
  test('creates, updates and leaves, and counts each', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    const send = (query: string, tasks: object[]) =>
      service.post(`/api/tasks/bulk${query}`, { listId: project.inbox.id, tasks })
    const { body: before } = await service.post('/api/tasks', { ...FULL, listId: list.id })
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
      { ...before, title: 'Disk full again', listId: list.id, updatedAt: expect.anything(), version: 2 },
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
      expect((await service.get(`/api/tasks/${task.id}`)).body).toEqual(task)
    }
    expect((await activityOf(response.body.data[0].id)).map(({ type }) => type)).toEqual([
      'task.created',
      'task.updated',
      'task.updated',
    ])
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

  test('updates a hundred tasks with descriptions of the maximum size', async () => {
    const { inbox } = await service.given.project()
    const tasksWith = (text: string) =>
      Array.from({ length: 100 }, (_, n) => ({
        title: `Task ${n}`,
        externalId: `${n}`,
        description: text.repeat(65_536),
        metadata: { n },
      }))
    await service.post(BULK, { listId: inbox.id, tasks: tasksWith('a') })

    const updated = await service.post(BULK, { listId: inbox.id, tasks: tasksWith('b') })
    const again = await service.post(BULK, { listId: inbox.id, tasks: tasksWith('b') })

    expect(updated.body).toMatchObject({ created: 0, updated: 100, existing: 0 })
    expect(again.body).toMatchObject({ created: 0, updated: 0, existing: 100 })
    for (const { body } of [updated, again]) {
      expect(
        body.data.every(
          ({ description, metadata, version }: Task, n: number) =>
            description === 'b'.repeat(65_536) && metadata.n === n && version === 2,
        ),
      ).toBe(true)
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
