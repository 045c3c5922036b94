import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { locksOf } from '../support/locks.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

const change = (ids: string[], change: Record<string, unknown>, key = service.adminKey) =>
  service.patch('/api/tasks/bulk', { ids, change }, { key })

async function givenTasks(count: number, values: Record<string, unknown> = {}) {
  const project = await service.given.project()
  const made = await service.post('/api/tasks/bulk', {
    listId: project.inbox.id,
    tasks: Array.from({ length: count }, (_, n) => ({ title: `Task ${n}`, ...values })),
  })
  return { project, tasks: made.body.data, ids: made.body.data.map(({ id }: { id: string }) => id) }
}

const versionsIn = async (projectId: string) =>
  (
    await service.query('select distinct version from tasks where project_id = $1 order by 1', [projectId])
  ).map(({ version }) => version)

const activityOf = (projectId: string) =>
  service.query(
    `select task_id, type, metadata, actor_name from activity
     where project_id = $1 and type <> 'task.created' order by task_id, type`,
    [projectId],
  )

describe('a bulk change', () => {
  test('changes each task, in the order of the request, with an activity each', async () => {
    const { project, tasks, ids } = await givenTasks(3)
    const key = await service.given.key({ name: 'the changer', scopes: ['tasks:read', 'tasks:write'] })
    const order = [ids[2], ids[0], ids[1]]

    const changed = await change(order, { priority: 'high', status: 'done' }, key)

    expect(changed.status).toBe(200)
    expect(changed.body.unchanged).toBe(0)
    expect(changed.body.data).toEqual(
      [tasks[2], tasks[0], tasks[1]].map((task) => ({
        ...task,
        priority: 'high',
        status: 'done',
        isReady: false,
        triaged: true,
        version: 2,
        updatedAt: expect.any(String),
        completedAt: expect.any(String),
      })),
    )
    for (const task of changed.body.data) {
      expect((await service.get(`/api/tasks/${task.id}`)).body).toMatchObject(task)
    }
    expect(await activityOf(project.id)).toEqual(
      ids.toSorted().flatMap((id: string) => [
        { task_id: id, type: 'task.completed', metadata: { from: 'open' }, actor_name: 'the changer' },
        {
          task_id: id,
          type: 'task.updated',
          metadata: { changes: { priority: { from: 'medium', to: 'high' } } },
          actor_name: 'the changer',
        },
      ]),
    )
  })

  test('leaves tasks alone that already have these values, and counts them', async () => {
    const { project, ids } = await givenTasks(3)
    await service.patch(`/api/tasks/${ids[1]}`, { priority: 'low' })

    const changed = await change(ids, { priority: 'low' })

    expect(changed.body.unchanged).toBe(1)
    expect(changed.body.data.map(({ version }: { version: number }) => version)).toEqual([2, 2, 2])
    expect(await activityOf(project.id)).toHaveLength(3)
  })

  test('keeps the completion time of done tasks when another field changes', async () => {
    const { ids } = await givenTasks(2)
    const done = (await service.patch(`/api/tasks/${ids[0]}`, { status: 'done' })).body

    const changed = await change(ids, { status: 'done', priority: 'high' })

    expect(changed.body.data[0]).toMatchObject({ completedAt: done.completedAt, priority: 'high' })
    expect(changed.body.data[1].completedAt > done.completedAt).toBe(true)
  })

  test('changes a task once that is named twice, however its id is written', async () => {
    const { ids } = await givenTasks(2)

    const changed = await change([ids[0], ids[1], ids[0].toUpperCase()], { notes: 'n' })

    expect(changed.status).toBe(200)
    expect(changed.body.data.map(({ id }: { id: string }) => id)).toEqual(ids)
  })

  test('of nothing changes nothing', async () => {
    const { tasks, ids } = await givenTasks(2)

    expect(await change(ids, {})).toMatchObject({ status: 200, body: { data: tasks, unchanged: 2 } })
  })

  test('moves a hundred tasks to a list of another project', async () => {
    const { project, ids } = await givenTasks(100)
    const there = await service.given.project()

    const moved = await change(ids, { listId: there.inbox.id })

    expect(moved.status).toBe(200)
    expect(moved.body.data).toHaveLength(100)
    expect(new Set(moved.body.data.map(({ projectId }: { projectId: string }) => projectId))).toEqual(
      new Set([there.id]),
    )
    expect((await service.get(`/api/lists/${there.inbox.id}`)).body.openCount).toBe(100)
    expect((await service.get(`/api/lists/${project.inbox.id}`)).body.openCount).toBe(0)
  })

  test('is atomic: of two concurrent ones, all tasks have the values of one, in any order of ids', async () => {
    const { project, ids } = await givenTasks(40)

    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? second : service).patch(
          '/api/tasks/bulk',
          { ids: n % 3 ? ids : ids.toReversed(), change: { title: `Title ${n}` } },
          { key: service.adminKey },
        ),
      ),
    )

    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const titles = await service.query('select distinct title from tasks where project_id = $1', [project.id])
    expect(titles).toHaveLength(1)
    expect(await versionsIn(project.id)).toEqual([21])
  })

  test('locks its tasks in one order: of two that overlap, one waits', async () => {
    const { ids } = await givenTasks(3)
    const locks = locksOf(service)
    const sorted = ids.toSorted()
    const release = await locks.acquire(`select from tasks where id = '${sorted[1]}' for update`)

    const both = [change(sorted, { notes: 'a' }), change(sorted.toReversed(), { notes: 'b' })]
    await locks.waiting(2, ...both)
    await release()

    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('a bulk change that fails', () => {
  test('names every unknown, deleted and foreign task and changes nothing', async () => {
    const { project, ids } = await givenTasks(3)
    const foreign = await givenTasks(1)
    await service.delete(`/api/tasks/${ids[1]}`)
    const key = await service.given.key({ projectId: project.id })

    const refused = await change(
      [ids[0], UNKNOWN_ID, ids[1], foreign.ids[0], ids[2]],
      { priority: 'high' },
      key,
    )

    expect(refused).toMatchObject({ status: 404, body: { code: 'task_not_found' } })
    expect(refused.body.errors).toEqual(
      [
        [1, UNKNOWN_ID],
        [2, ids[1]],
        [3, foreign.ids[0]],
      ].map(([index, id]) => ({
        path: `/ids/${index}`,
        code: 'task_not_found',
        message: expect.stringContaining(String(id)),
      })),
    )
    expect((await service.get(`/api/tasks/${ids[0]}`)).body.version).toBe(1)
  })

  test('has an error with its own code for each task', async () => {
    const { ids } = await givenTasks(1)
    const { id, inbox } = await service.given.project()
    await service.given.connection(id)
    const synced = await service.given.task(inbox, {
      source: 'codehost',
      codehostKind: 'issue',
      codehostNumber: 7,
      codehostRepositoryId: 1,
    })
    const feedback = await service.given.task(inbox, { source: 'analytics' })
    const old = await service.given.project({ archivedAt: new Date() })
    const archived = await service.given.task(old.inbox)

    const refused = await change([ids[0], synced.id, feedback.id, archived.id, UNKNOWN_ID], {
      title: 'Another',
      description: 'Another',
    })

    expect(refused).toMatchObject({ status: 403, body: { code: 'managed_by_codehost' } })
    expect(refused.body.errors.map(({ path, code }: Record<string, string>) => [path, code])).toEqual([
      ['/ids/1', 'managed_by_codehost'],
      ['/ids/2', 'description_read_only'],
      ['/ids/3', 'project_archived'],
      ['/ids/4', 'task_not_found'],
    ])
    expect((await service.get(`/api/tasks/${ids[0]}`)).body.title).toBe('Task 0')
  })

  test.each([
    ['unknown', async () => UNKNOWN_ID, 404, 'list_not_found'],
    [
      'archived',
      async () => (await service.given.project({ archivedAt: new Date() })).inbox.id,
      409,
      'project_archived',
    ],
  ])('names an %s list beside the tasks', async (_, listOf, status, code) => {
    const { ids } = await givenTasks(1)

    const refused = await change([ids[0], UNKNOWN_ID], { listId: await listOf(), notes: 'n' })

    expect([refused.status, refused.body.code]).toEqual([status, code])
    expect(refused.body.errors).toMatchObject([
      { path: '/change/listId', code },
      { path: '/ids/1', code: 'task_not_found' },
    ])
    expect((await service.get(`/api/tasks/${ids[0]}`)).body.notes).toBeNull()
  })

  test('names the tasks whose externalId already exists in the target, in another or in one of them', async () => {
    const there = await service.given.project()
    await service.post('/api/tasks', { title: 'Taken', listId: there.inbox.id, externalId: 'a' })
    const [one, two] = [await service.given.project(), await service.given.project()]
    const made = await Promise.all(
      [
        { listId: one.inbox.id, externalId: 'a' },
        { listId: one.inbox.id, externalId: 'b' },
        { listId: two.inbox.id, externalId: 'b' },
        { listId: two.inbox.id, externalId: 'c' },
      ].map(async (values) => (await service.post('/api/tasks', { title: 'A', ...values })).body.id),
    )

    const refused = await change(made, { listId: there.inbox.id })

    expect(refused).toMatchObject({ status: 409, body: { code: 'external_id_taken' } })
    expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual(['/ids/0', '/ids/2'])
    expect((await service.get(`/api/tasks/${made[3]}`)).body.listId).toBe(two.inbox.id)
  })

  test.each([
    ['no id', { ids: [], change: {} }, '/ids'],
    ['over a hundred', { ids: Array(101).fill(UNKNOWN_ID), change: {} }, '/ids'],
    ['no UUID', { ids: [UNKNOWN_ID, 'x', 3], change: {} }, '/ids/1', '/ids/2'],
    ['no change', { ids: [UNKNOWN_ID] }, '/change'],
    ['bad values', { ids: ['x'], change: { title: '', nope: 1 } }, '/change/nope', '/change/title', '/ids/0'],
    ['more than it knows', { ids: [UNKNOWN_ID], change: {}, nope: 1 }, '/nope'],
  ])('for %s is rejected by name', async (_, body, ...paths) => {
    const refused = await service.patch('/api/tasks/bulk', body)

    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(refused.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual(paths)
  })
})

describe('a project that is being archived', () => {
  test.each([
    ['a change', (id: string) => service.patch(`/api/tasks/${id}`, { notes: 'late' })],
    ['a bulk change', (id: string) => change([id], { notes: 'late' })],
    ['a delete', (id: string) => service.delete(`/api/tasks/${id}`)],
  ])('waits for %s of its tasks, which is then rejected', async (_, write) => {
    const { project, tasks } = await givenTasks(1)
    const archiving = await service.connect()
    await archiving.query('begin')
    await archiving.query('select from projects where id = $1 for update', [project.id])
    await archiving.query('update projects set archived_at = now() where id = $1', [project.id])

    const late = write(tasks[0].id)
    await locksOf(service).waiting(1, late)
    await archiving.query('commit')
    archiving.release()

    expect(await late).toMatchObject({ status: 409, body: { code: 'project_archived' } })
    const kept = await service.get(`/api/tasks/${tasks[0].id}`)
    expect(kept.body).toMatchObject({ ...tasks[0], notes: null, isReady: false })
  })
})
