import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FieldError } from '../../src/errors/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

/** The activities of a task since it was created, oldest first. */
async function activityOf(id: string) {
  return service.query(
    `select type, metadata from activity where task_id = $1 and type <> 'task.created' order by id`,
    [id],
  )
}

async function givenTask(values: Record<string, unknown> = {}) {
  const { inbox } = await service.given.project()
  return (await service.post('/api/tasks', { title: 'A task', listId: inbox.id, ...values })).body
}

/** Whoever changes one of these has decided about the task. */
const DECISIONS = ['status', 'priority', 'labels', 'assignees']

describe('a change', () => {
  test.each([
    ['title', 'Another title', { from: 'A task', to: 'Another title' }],
    ['description', 'Another story', 'changed'],
    ['description', null, 'changed'],
    ['notes', 'We know why', 'changed'],
    ['metadata', { a: { b: [1] } }, 'changed'],
    ['priority', 'high', { from: 'low', to: 'high' }],
    ['labels', ['b', 'a'], { from: ['a'], to: ['b', 'a'] }],
    ['labels', [], { from: ['a'], to: [] }],
    ['assignees', ['grace'], { from: [], to: ['grace'] }],
    ['externalUrl', 'https://a.example/2', { from: 'https://a.example/1', to: 'https://a.example/2' }],
    ['externalUrl', null, { from: 'https://a.example/1', to: null }],
    ['status', 'in_progress', { from: 'open', to: 'in_progress' }],
  ])('of %s to %j is stored, with a version and an activity', async (field, value, logged) => {
    const task = await givenTask({
      description: 'A story',
      priority: 'low',
      labels: ['a'],
      externalUrl: 'https://a.example/1',
    })

    const changed = await service.patch(`/api/tasks/${task.id}`, { [field]: value })

    expect(changed.status).toBe(200)
    expect(changed.headers.get('etag')).toBe('"2"')
    const { updatedAt } = changed.body
    const isReady = field !== 'status'
    const triaged = DECISIONS.includes(field)
    expect(changed.body).toEqual({ ...task, [field]: value, isReady, triaged, updatedAt, version: 2 })
    expect(updatedAt >= task.updatedAt).toBe(true)
    expect((await service.get(`/api/tasks/${task.id}`)).body).toEqual(changed.body)
    expect(await activityOf(task.id)).toEqual([
      { type: 'task.updated', metadata: { changes: { [field]: logged } } },
    ])
  })

  test('of many fields is one version and one activity, with its actor', async () => {
    const task = await givenTask()
    const key = await service.given.key({ name: 'the mender' })

    const changed = await service.patch(
      `/api/tasks/${task.id}`,
      { title: 'B', priority: 'high', notes: 'n' },
      { key },
    )

    expect(changed.body.version).toBe(2)
    expect(
      await service.query(
        `select actor_type, actor_name, project_id, metadata from activity where task_id = $1 and type = 'task.updated'`,
        [task.id],
      ),
    ).toEqual([
      {
        actor_type: 'key',
        actor_name: 'the mender',
        project_id: task.projectId,
        metadata: {
          changes: {
            title: { from: 'A task', to: 'B' },
            priority: { from: 'medium', to: 'high' },
            notes: 'changed',
          },
        },
      },
    ])
  })

  test.each([
    ['nothing', {}],
    ['the same title', { title: 'A task' }],
    ['the same title in more space', { title: '  A task ' }],
    [
      'the same of everything',
      {
        description: null,
        status: 'open',
        priority: 'medium',
        labels: ['a', 'b'],
        assignees: [],
        externalUrl: null,
        notes: null,
        metadata: { b: 1, a: { d: 2, c: 0 } },
      },
    ],
  ])('to %s creates no version and no activity', async (_, change) => {
    const task = await givenTask({ labels: ['a', 'b'], metadata: { a: { c: 0, d: 2 }, b: 1 } })

    const response = await service.patch(`/api/tasks/${task.id}`, change)

    expect(response.status).toBe(200)
    expect(response.body).toEqual(task)
    expect(await activityOf(task.id)).toEqual([])
  })

  test('of an empty body changes nothing', async () => {
    const task = await givenTask()

    expect(await service.patch(`/api/tasks/${task.id}`)).toMatchObject({ status: 200, body: task })
  })

  test('to done sets the completion time, and from done clears it', async () => {
    const task = await givenTask()

    const done = await service.patch(`/api/tasks/${task.id}`, { status: 'done' })
    const again = await service.patch(`/api/tasks/${task.id}`, { status: 'done' })
    const resumed = await service.patch(`/api/tasks/${task.id}`, { status: 'in_progress', title: 'B' })
    const reopened = await service.patch(`/api/tasks/${task.id}`, { status: 'open' })

    expect(done.body.completedAt).toBe(done.body.updatedAt)
    expect(again.body).toEqual(done.body)
    expect([resumed.body.completedAt, reopened.body.completedAt]).toEqual([null, null])
    expect(await activityOf(task.id)).toEqual([
      { type: 'task.completed', metadata: { from: 'open' } },
      { type: 'task.updated', metadata: { changes: { title: { from: 'A task', to: 'B' } } } },
      { type: 'task.reopened', metadata: { to: 'in_progress' } },
      { type: 'task.updated', metadata: { changes: { status: { from: 'in_progress', to: 'open' } } } },
    ])
  })

  test('of an unknown or deleted task is 404', async () => {
    const task = await givenTask()
    await service.delete(`/api/tasks/${task.id}`)

    for (const id of [UNKNOWN_ID, task.id]) {
      expect(await service.patch(`/api/tasks/${id}`, { title: 'B' })).toMatchObject({
        status: 404,
        body: { code: 'task_not_found' },
      })
    }
  })

  test('of read-only members is rejected by name', async () => {
    const task = await givenTask()

    const refused = await service.patch(`/api/tasks/${task.id}`, {
      id: UNKNOWN_ID,
      source: 'api',
      projectId: UNKNOWN_ID,
      version: 9,
      externalId: 'x',
      createdAt: null,
    })

    expect(refused.status).toBe(400)
    expect(refused.body.errors.map(({ path, code }: FieldError) => [path, code])).toEqual(
      ['/id', '/source', '/projectId', '/version', '/externalId', '/createdAt'].map((path) => [
        path,
        'unknown_field',
      ]),
    )
  })
})

describe('a move', () => {
  test('to a list of the same project records both lists', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    const task = await givenTask({ listId: project.inbox.id })

    const moved = await service.patch(`/api/tasks/${task.id}`, { listId: list.id.toUpperCase() })

    expect(moved.body).toMatchObject({ listId: list.id, projectId: project.id, version: 2 })
    expect(await activityOf(task.id)).toEqual([
      {
        type: 'task.updated',
        metadata: { changes: { listId: { from: project.inbox.id, to: list.id } } },
      },
    ])
  })

  test('to a list of another project moves the task there', async () => {
    const there = await service.given.project()
    const task = await givenTask({ externalId: 'x-1' })

    const moved = await service.patch(`/api/tasks/${task.id}`, { listId: there.inbox.id })

    expect(moved.body).toMatchObject({ listId: there.inbox.id, projectId: there.id })
    const [{ metadata }] = await activityOf(task.id)
    expect(metadata.changes).toEqual({
      listId: { from: task.listId, to: there.inbox.id },
      projectId: { from: task.projectId, to: there.id },
    })
  })

  test('to a project where its externalId already exists is rejected', async () => {
    const there = await service.given.project()
    await givenTask({ listId: there.inbox.id, externalId: 'x-1' })
    const task = await givenTask({ externalId: 'x-1' })

    const refused = await service.patch(`/api/tasks/${task.id}`, { listId: there.inbox.id })

    expect(refused).toMatchObject({ status: 409, body: { code: 'external_id_taken' } })
    expect((await service.get(`/api/tasks/${task.id}`)).body).toEqual(task)
    expect(await activityOf(task.id)).toEqual([])
  })

  test('to an unknown list, or one the key cannot see, is 404', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ projectId: mine.id })
    const task = await givenTask({ listId: mine.inbox.id })

    for (const listId of [UNKNOWN_ID, theirs.inbox.id]) {
      expect(await service.patch(`/api/tasks/${task.id}`, { listId }, { key })).toMatchObject({
        status: 404,
        body: { code: 'list_not_found' },
      })
    }
  })

  test('into an archived project is rejected', async () => {
    const old = await service.given.project({ archivedAt: new Date() })
    const task = await givenTask()

    expect(await service.patch(`/api/tasks/${task.id}`, { listId: old.inbox.id })).toMatchObject({
      status: 409,
      body: { code: 'project_archived' },
    })
  })
})

describe('a task in an archived project', () => {
  test('can be read and listed, not written', async () => {
    const { id: projectId, inbox } = await service.given.project({ archivedAt: new Date() })
    const task = await service.given.task(inbox)
    const hidden = await service.given.task(inbox, { deletedAt: new Date() })

    for (const response of [
      await service.patch(`/api/tasks/${task.id}`, { notes: 'n' }),
      await service.delete(`/api/tasks/${task.id}`),
      await service.post(`/api/tasks/${hidden.id}/restore`),
    ]) {
      expect(response).toMatchObject({ status: 409, body: { code: 'project_archived' } })
    }
    expect((await service.get(`/api/tasks/${task.id}`)).status).toBe(200)
    expect((await service.get(`/api/tasks?projectId=${projectId}`)).body.data).toHaveLength(1)
    expect(await activityOf(task.id)).toEqual([])
  })
})
