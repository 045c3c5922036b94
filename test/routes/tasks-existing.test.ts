import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
