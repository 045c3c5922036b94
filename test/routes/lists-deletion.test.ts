import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { namesInOrder } from '../support/positions.ts'
import { sourceOf } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
})
afterAll(() => service.close())

const newList = async (projectId: string, body: object = { name: 'A list' }) =>
  (await service.post(`/api/projects/${projectId}/lists`, body)).body

const newTask = async (listId: string) => (await service.post('/api/tasks', { title: 'A task', listId })).body

const orderOf = async (projectId: string) =>
  namesInOrder((await service.get(`/api/projects/${projectId}/lists?limit=200`)).body.data)

describe('deleting a list', () => {
  test('that is empty closes the gap', async () => {
    const project = await service.given.project()
    const [a] = [await newList(project.id, { name: 'a' }), await newList(project.id, { name: 'b' })]

    expect((await service.delete(`/api/lists/${a.id}`)).status).toBe(204)

    expect((await service.get(`/api/lists/${a.id}`)).status).toBe(404)
    expect(await orderOf(project.id)).toEqual(['Inbox', 'b'])
  })

  test('that is the default is rejected, with moveTo or without', async () => {
    const project = await service.given.project()
    const list = await newList(project.id)

    for (const query of ['', `?moveTo=${list.id}`]) {
      const refused = await service.delete(`/api/lists/${project.inbox.id}${query}`)
      expect(refused).toMatchObject({ status: 409, body: { code: 'list_is_default' } })
    }
  })

  test('with tasks requires moveTo, done ones included', async () => {
    const project = await service.given.project()
    const list = await newList(project.id)
    const task = await newTask(list.id)
    await service.patch(`/api/tasks/${task.id}`, { status: 'done' })

    const refused = await service.delete(`/api/lists/${list.id}`)

    expect(refused).toMatchObject({ status: 409, body: { code: 'list_not_empty' } })
    expect(refused.body.detail).toContain('moveTo')
  })

  test('moves its tasks, each with a new version and an activity', async () => {
    const project = await service.given.project()
    const [from, to] = [await newList(project.id), await newList(project.id)]
    const tasks = [await newTask(from.id), await newTask(from.id)]
    const key = await service.given.key({ name: 'the mover' })

    expect((await service.delete(`/api/lists/${from.id}?moveTo=${to.id}`, { key })).status).toBe(204)

    for (const task of tasks) {
      const { body } = await service.get(`/api/tasks/${task.id}`)
      expect(body).toMatchObject({ listId: to.id, version: task.version + 1, createdAt: task.createdAt })
      expect(body.updatedAt >= task.updatedAt).toBe(true)
      expect(
        await service.query("select * from activity where task_id = $1 and type = 'task.updated'", [task.id]),
      ).toEqual([
        expect.objectContaining({
          project_id: project.id,
          actor_name: 'the mover',
          metadata: { changes: { listId: { from: from.id, to: to.id } } },
          created_at: new Date(body.updatedAt),
        }),
      ])
    }
    expect((await service.get(`/api/lists/${to.id}`)).body.openCount).toBe(2)
  })

  test('moves thousands at once', async () => {
    const project = await service.given.project()
    const [from, to] = [await newList(project.id), await newList(project.id)]
    await service.query(
      `insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
         created_by_type, created_by_name, created_at, updated_at, version)
       select gen_random_uuid(), 'A task', 'open', 2, 'api', $1, $2, '{}', '{}', '{}', 'system', 'test', now(), now(), 1
       from generate_series(1, 2500)`,
      [project.id, from.id],
    )

    for (let status = 202; status === 202; ) {
      status = (await service.delete(`/api/lists/${from.id}?moveTo=${to.id}`)).status
      expect([202, 204]).toContain(status)
    }

    expect((await service.get(`/api/lists/${to.id}`)).body.openCount).toBe(2500)
    const [{ count }] = await service.query(
      "select count(distinct task_id)::int from activity where project_id = $1 and type = 'task.updated'",
      [project.id],
    )
    expect(count).toBe(2500)
  })

  test.each(['to the list named', 'to the default list'])(
    'moves the tasks in its trash %s',
    async (destination) => {
      const project = await service.given.project()
      const [from, named] = [await newList(project.id), await newList(project.id)]
      const task = await newTask(from.id)
      await service.delete(`/api/tasks/${task.id}`)
      const [query, target] =
        destination === 'to the list named' ? [`?moveTo=${named.id}`, named] : ['', project.inbox]

      expect((await service.delete(`/api/lists/${from.id}${query}`)).status).toBe(204)

      const restored = await service.post(`/api/tasks/${task.id}/restore`)
      expect(restored).toMatchObject({ status: 200, body: { listId: target.id } })
      expect((await service.get(`/api/lists/${target.id}`)).body.openCount).toBe(1)
    },
  )

  test('moves its sources and the saved filters of everybody along', async () => {
    const project = await service.given.project()
    const [from, to] = [await newList(project.id), await newList(project.id)]
    const { source, send } = await sourceOf(service, {
      projectId: project.id,
      listId: from.id,
      verify: { scheme: 'bearer' },
    })
    const reader = await service.given.key({ scopes: ['tasks:read'] })
    const query = { listId: from.id, status: ['open'] }
    const filter = (await service.post('/api/saved-filters', { name: 'Mine', query }, { key: reader })).body
    await newTask(from.id)

    await service.delete(`/api/lists/${from.id}?moveTo=${to.id}`)

    expect((await service.get(`/api/sources/${source.id}`)).body.listId).toBe(to.id)
    expect((await send({ title: 'Next' })).body.listId).toBe(to.id)
    expect((await service.get(`/api/saved-filters/${filter.id}`, { key: reader })).body).toMatchObject({
      query: { listId: to.id, status: ['open'] },
      count: 2,
    })
    const { data } = (await service.get(`/api/activity?projectId=${project.id}&type=source.updated`)).body
    expect(data).toMatchObject([{ metadata: { sourceId: source.id, fields: ['listId'] } }])
  })

  test('rejects an invalid moveTo', async () => {
    const [project, other] = [await service.given.project(), await service.given.project()]
    const list = await newList(project.id)
    const task = await newTask(list.id)

    for (const [moveTo, status, code] of [
      ['inbox', 400, 'validation_failed'],
      ['', 400, 'validation_failed'],
      [list.id, 400, 'validation_failed'],
      [other.inbox.id, 400, 'validation_failed'],
      [UNKNOWN_ID, 404, 'list_not_found'],
    ]) {
      const refused = await service.delete(`/api/lists/${list.id}?moveTo=${moveTo}`)
      expect([moveTo, refused.status, refused.body.code]).toEqual([moveTo, status, code])
      if (status === 400) expect(refused.body.errors[0].path).toBe('query.moveTo')
    }
    expect((await service.get(`/api/tasks/${task.id}`)).body.listId).toBe(list.id)
  })

  test('that races with creates, deletions and restores loses no task, and is never a 500', async () => {
    for (let round = 0; round < 15; round++) {
      const project = await service.given.project()
      const [from, to] = [await newList(project.id), await newList(project.id)]
      const [moving, coming, hidden] = [await newTask(from.id), await newTask(to.id), await newTask(from.id)]
      await service.delete(`/api/tasks/${hidden.id}`)

      const responses = await Promise.all([
        service.delete(`/api/lists/${from.id}?moveTo=${to.id}`),
        service.post('/api/tasks', { title: 'A task', listId: from.id }),
        service.post('/api/tasks/bulk', { listId: from.id, tasks: [{ title: 'A' }, { title: 'B' }] }),
        service.patch(`/api/tasks/${moving.id}`, { listId: project.inbox.id }),
        service.patch(`/api/tasks/${coming.id}`, { listId: from.id }),
        service.post(`/api/tasks/${hidden.id}/restore`),
        service.delete(`/api/lists/${to.id}?moveTo=${from.id}`),
      ])

      expect(responses.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
      const made = (responses[1].status === 201 ? 1 : 0) + (responses[2].status === 201 ? 2 : 0)
      expect((await service.get(`/api/projects/${project.id}`)).body.openCount).toBe(3 + made)
      const shown = await service.get(`/api/tasks?projectId=${project.id}`)
      expect(shown.body.data).toHaveLength(3 + made)
    }
  })
})
