import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
})
afterAll(() => service.close())

describe('deleting a project', () => {
  test('deletes its lists, also when it is archived', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    await service.post(`/api/projects/${project.id}/archive`)

    expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(204)

    expect((await service.get(`/api/projects/${project.id}`)).status).toBe(404)
    expect((await service.get(`/api/lists/${list.id}`)).status).toBe(404)
    expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(404)
  })

  test('is rejected while it has a task, done ones included', async () => {
    const project = await service.given.project()
    const { body } = await service.post('/api/tasks', { title: 'A task', listId: project.inbox.id })
    await service.patch(`/api/tasks/${body.id}`, { status: 'done' })

    const refused = await service.delete(`/api/projects/${project.id}`)

    expect(refused).toMatchObject({ status: 409, body: { code: 'project_not_empty' } })
    expect(refused.body.detail).toContain('tasks')
    expect((await service.get(`/api/tasks/${body.id}`)).status).toBe(200)
  })

  test('deletes the tasks in its trash', async () => {
    const project = await service.given.project()
    const { body } = await service.post('/api/tasks', { title: 'A task', listId: project.inbox.id })
    await service.delete(`/api/tasks/${body.id}`)

    expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(204)

    expect((await service.post(`/api/tasks/${body.id}/restore`)).status).toBe(404)
  })

  test('is rejected while it has a rule', async () => {
    const project = await service.given.project()
    await service.query(
      `insert into rules (id, content, priority, is_active, project_id, version, created_at, updated_at,
         updated_by_type, updated_by_name)
       values (gen_random_uuid(), 'Be brief', 0, false, $1, 1, now(), now(), 'system', 'test')`,
      [project.id],
    )

    const refused = await service.delete(`/api/projects/${project.id}`)

    expect(refused).toMatchObject({ status: 409, body: { code: 'project_in_use' } })
    expect(refused.body.detail).toContain('in use by a rule.')
  })

  test('is rejected while a key is bound to it, and ignores revoked keys', async () => {
    const project = await service.given.project()
    const key = await service.given.key({ projectId: project.id })
    const expired = await service.given.key({ projectId: project.id, expiresAt: new Date(0) })

    const refused = await service.delete(`/api/projects/${project.id}`)
    expect(refused).toMatchObject({ status: 409, body: { code: 'project_in_use' } })
    expect(refused.body.detail).toContain('in use by the key "')
    // The key that asks is bound, too.
    expect((await service.delete(`/api/projects/${project.id}`, { key })).status).toBe(409)

    const me = (await service.get('/api/me', { key })).body
    await service.query('update api_keys set revoked_at = now() where id = $1', [me.id])
    expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(204)

    const rows = await service.query("select * from api_keys where scopes = '{}'")
    expect(rows).toHaveLength(2)
    for (const row of rows) expect(row).toMatchObject({ project_id: null, revoked_at: expect.any(Date) })
    expect((await service.get('/api/me', { key: expired })).status).toBe(401)
  })

  test('that races with a new task or list has one winner and no 500', async () => {
    for (let round = 0; round < 15; round++) {
      const project = await service.given.project()
      const [deleted, ...others] = await Promise.all([
        service.delete(`/api/projects/${project.id}`),
        service.post('/api/tasks', { title: 'A task', listId: project.inbox.id }),
        service.post('/api/tasks/bulk', {
          listId: project.inbox.id,
          tasks: [{ title: 'A' }, { title: 'B' }],
        }),
        service.post(`/api/projects/${project.id}/lists`, { name: 'A list' }),
      ])

      const [task, bulk, list] = others.map(({ status }) => status)
      if (deleted?.status === 204) {
        expect([task, bulk]).toEqual([404, 404])
        expect([201, 404]).toContain(list)
      } else {
        expect(deleted).toMatchObject({ status: 409, body: { code: 'project_not_empty' } })
        expect([task, bulk]).toContain(201)
        expect(list).toBe(201)
      }
    }
  })
})
