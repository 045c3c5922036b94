import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere } from '../../src/repositories/index.ts'
import type { listsService } from '../../src/services/lists.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { deletingCaller as caller, deletionsInWorker } from '../support/deletions.ts'
import { locksOf } from '../support/locks.ts'
import { sourceOf } from '../support/sources.ts'

let service: TestApp
let locks: ReturnType<typeof locksOf>
let workerLists: ReturnType<typeof listsService>
let deletions: ReturnType<typeof deletionsInWorker>
beforeAll(async () => {
  service = await startApp()
  locks = locksOf(service)
  deletions = deletionsInWorker(service)
  workerLists = deletions.lists()
})
afterAll(async () => {
  await deletions.close()
  await service.close()
})

async function givenLists({ tasks = 0, hidden = 0 } = {}) {
  const project = await service.given.project()
  const [from, to] = [await service.given.list(project.id), await service.given.list(project.id)]
  await service.given.tasks(from, tasks)
  await service.given.tasks(from, hidden, { isDeleted: true })
  return { project, from, to }
}

async function finish(id: string, lists = workerLists) {
  while ((await service.get(`/api/lists/${id}`)).status === 200) await lists.workOnDeletions()
}

const tasksByList = async (projectId: string) =>
  service.query(
    `select list_id as id, version, deleted_at is not null as hidden, count(*)::int from tasks
     where project_id = $1 group by 1, 2, 3 order by 3, 2`,
    [projectId],
  )

describe('the deletion of a large list', () => {
  test('responds before it is done, continues in the worker, and moves each task once', async () => {
    const { project, from, to } = await givenLists({ tasks: 700, hidden: 150 })

    const left = await workerLists.delete(caller, { id: from.id, moveTo: to.id })
    expect(left).toMatchObject({ id: from.id, openCount: 700 })
    await Promise.all([finish(from.id), finish(from.id, service.service.lists)])

    expect(await tasksByList(project.id)).toEqual([
      { id: to.id, version: 2, hidden: false, count: 700 },
      { id: to.id, version: 1, hidden: true, count: 150 },
    ])
    const activity = await service.query(
      `select type, actor_name, count(*)::int, count(distinct task_id)::int as tasks from activity
       where project_id = $1 group by 1, 2 order by 1`,
      [project.id],
    )
    expect(activity).toEqual([
      { type: 'list.deleted', actor_name: 'the deleter', count: 1, tasks: 0 },
      { type: 'task.updated', actor_name: 'the deleter', count: 700, tasks: 700 },
    ])
    expect((await service.get(`/api/lists/${to.id}`)).body).toMatchObject({ openCount: 700, position: 1 })
    expect(await service.query('select from list_deletions where project_id = $1', [project.id])).toEqual([])
  })

  test('takes along the sources and saved filters that were given to it meanwhile', async () => {
    const { project, from, to } = await givenLists({ tasks: 700 })
    await workerLists.delete(caller, { id: from.id, moveTo: to.id })
    const { source } = await sourceOf(service, {
      projectId: project.id,
      listId: from.id,
      verify: { scheme: 'bearer' },
    })
    const filter = (
      await service.post('/api/saved-filters', { name: 'Meanwhile', query: { listId: from.id } })
    ).body

    await finish(from.id)

    expect((await service.get(`/api/sources/${source.id}`)).body.listId).toBe(to.id)
    expect((await service.get(`/api/saved-filters/${filter.id}`)).body.query).toEqual({ listId: to.id })
  })

  test('is 202 with the list while it runs, and 204 once it is done', async () => {
    const { from, to } = await givenLists({ tasks: 300 })
    const [task] = await service.query('select id from tasks where list_id = $1 limit 1', [from.id])
    const release = await locks.acquire(`select from tasks where id = '${task.id}' for update`)

    const path = `/api/lists/${from.id}?moveTo=${to.id}`
    const accepted = await service.delete(path)
    await release()
    let done = accepted
    while (done.status === 202) done = await service.delete(path)

    expect(accepted).toMatchObject({ status: 202, body: { id: from.id } })
    expect(accepted.headers.get('location')).toBe(`/api/lists/${from.id}`)
    expect(done.status).toBe(204)
    expect((await service.delete(path)).status).toBe(404)
  })

  test('accepts tasks in the list until its last step', async () => {
    const { from, to } = await givenLists({ tasks: 400 })
    await workerLists.delete(caller, { id: from.id, moveTo: to.id })

    const created = await service.post('/api/tasks', { title: 'On the way', listId: from.id })
    expect(created.status).toBe(201)
    await finish(from.id)

    expect((await service.get(`/api/tasks/${created.body.id}`)).body.listId).toBe(to.id)
    expect((await service.post('/api/tasks', { title: 'Late', listId: from.id })).status).toBe(404)
  })

  test('moves tasks that were restored in the meantime', async () => {
    const { from, to } = await givenLists({ tasks: 300, hidden: 5 })
    await workerLists.delete(caller, { id: from.id, moveTo: to.id })
    const [hidden] = await service.query(
      'select id from tasks where list_id = $1 and deleted_at is not null limit 1',
      [from.id],
    )
    expect((await service.post(`/api/tasks/${hidden.id}/restore`)).status).toBe(200)
    await finish(from.id)

    expect((await service.get(`/api/tasks/${hidden.id}`)).body.listId).toBe(to.id)
  })

  test('moves its tasks on when their new list is deleted as well', async () => {
    const { project, from, to } = await givenLists({ tasks: 300 })
    const [list] = [await service.given.list(project.id)]
    await workerLists.delete(caller, { id: from.id, moveTo: to.id })

    expect((await service.delete(`/api/lists/${to.id}?moveTo=${list.id}`)).status).toBe(204)
    await finish(from.id)

    expect(await tasksByList(project.id)).toMatchObject([{ id: list.id, count: 300 }])
  })

  test('cannot form a cycle', async () => {
    const { from, to } = await givenLists({ tasks: 300 })
    await workerLists.delete(caller, { id: from.id, moveTo: to.id })

    const refused = await service.delete(`/api/lists/${to.id}?moveTo=${from.id}`)

    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ path: 'query.moveTo' }] },
    })
    await finish(from.id)
  })

  test('pauses while its project is archived', async () => {
    const { project, from, to } = await givenLists({ tasks: 300 })
    await workerLists.delete(caller, { id: from.id, moveTo: to.id })
    await service.post(`/api/projects/${project.id}/archive`)

    expect(await workerLists.workOnDeletions()).toBe(false)
    expect(await tasksByList(project.id)).toMatchObject([{ id: from.id, count: 300 }])

    await service.post(`/api/projects/${project.id}/unarchive`)
    await finish(from.id)
    expect(await tasksByList(project.id)).toMatchObject([{ id: to.id, count: 300 }])
  })

  test('and the deletion of its project do not wait for each other', async () => {
    const { project, from, to } = await givenLists({ tasks: 300 })
    await workerLists.delete(caller, { id: from.id, moveTo: to.id })
    const deleter = await service.connect()
    await deleter.query(`begin; select from projects where id = '${project.id}' for update`)

    const work = workerLists.workOnDeletions()
    await locks.waiting(1, work)
    await deleter.query(`set local statement_timeout = '5s'`)
    await deleter.query('delete from list_deletions where project_id = $1', [project.id])
    await deleter.query('rollback')
    deleter.release()

    expect(await work).toBe(false)
    await finish(from.id)
    expect(await tasksByList(project.id)).toMatchObject([{ id: to.id, count: 300 }])
  })

  test('does not wait for tasks that are locked', async () => {
    const { project, from, to } = await givenLists({ tasks: 300 })
    await workerLists.delete(caller, { id: from.id, moveTo: to.id })
    const [task] = await service.query('select id from tasks where list_id = $1 order by id limit 1', [
      from.id,
    ])
    const release = await locks.acquire(`select from tasks where id = '${task.id}' for update`)

    while (await workerLists.workOnDeletions());
    const meanwhile = await tasksByList(project.id)
    await release()
    await finish(from.id)

    expect(meanwhile).toMatchObject([
      { id: from.id, count: 1 },
      { id: to.id, count: 299 },
    ])
    expect(await tasksByList(project.id)).toMatchObject([{ id: to.id, count: 300 }])
  })

  test('without moveTo rejects new tasks at once, and moves deleted ones to the default list', async () => {
    const { project, from } = await givenLists({ hidden: 300 })

    expect(await workerLists.delete(caller, { id: from.id })).toMatchObject({
      id: from.id,
    })
    expect((await service.post('/api/tasks', { title: 'Late', listId: from.id })).status).toBe(404)
    await finish(from.id)

    expect(await tasksByList(project.id)).toEqual([
      { id: project.inbox.id, version: 1, hidden: true, count: 300 },
    ])
  })

  test('ends when its project is deleted', async () => {
    const { project, from } = await givenLists({ hidden: 300 })
    await workerLists.delete(caller, { id: from.id })

    expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(204)
    expect(await workerLists.workOnDeletions()).toBe(false)
  })
})

describe('the deletion of a small list', () => {
  test('waits for a task that is being added, and moves it', async () => {
    const { project, from, to } = await givenLists({ tasks: 1 })
    const creating = await service.connect()
    await creating.query('begin')
    await creating.query(
      `insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
         created_by_type, created_by_name, created_at, updated_at, version)
       values (gen_random_uuid(), 'On its way', 'open', 2, 'api', $1, $2, '{}', '{}', '{}', 'system', 'test', now(), now(), 1)`,
      [project.id, from.id],
    )
    const deleted = service.delete(`/api/lists/${from.id}?moveTo=${to.id}`)
    await locks.waiting(1, deleted)
    await creating.query('commit')
    creating.release()

    expect((await deleted).status).toBe(204)
    expect(await tasksByList(project.id)).toMatchObject([{ id: to.id, count: 2 }])
  })
})

test('a worker that dies halfway keeps what it moved, and another continues', async () => {
  const { project, from, to } = await givenLists({ tasks: 500 })
  await workerLists.delete(caller, { id: from.id, moveTo: to.id })
  await workerLists.workOnDeletions()
  // As a killed process leaves it: its transaction is rolled back, its locks are gone.
  await service.repos
    .within(everywhere)
    .transaction(async (repos) => {
      await repos.listDeletions.claim(from.id)
      throw new Error('killed')
    })
    .catch(() => undefined)

  await finish(from.id, service.service.lists)
  expect(await tasksByList(project.id)).toEqual([{ id: to.id, version: 2, hidden: false, count: 500 }])
})
