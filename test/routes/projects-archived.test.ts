import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { TIMESTAMP } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
})
afterAll(() => service.close())

describe('an archived project', () => {
  test('can be read, not written', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    const task = await service.given.task(list)
    const archived = await service.post(`/api/projects/${project.id}/archive`)
    expect(archived).toMatchObject({ status: 200, body: { archivedAt: expect.stringMatching(TIMESTAMP) } })

    for (const path of [
      `/api/projects/${project.id}`,
      `/api/projects/${project.id}/lists`,
      `/api/lists/${list.id}`,
      `/api/tasks/${task.id}`,
      `/api/tasks?listId=${list.id}`,
    ]) {
      expect([path, (await service.get(path)).status]).toEqual([path, 200])
    }
    for (const [method, path, body] of [
      ['PATCH', `/api/projects/${project.id}`, { name: 'New' }],
      ['POST', `/api/projects/${project.id}/lists`, { name: 'New' }],
      ['PATCH', `/api/lists/${list.id}`, { name: 'New' }],
      ['PATCH', `/api/lists/${list.id}`, { position: 0 }],
      ['DELETE', `/api/lists/${list.id}?moveTo=${project.inbox.id}`, undefined],
      ['POST', '/api/tasks', { title: 'New', listId: list.id }],
      ['PATCH', `/api/tasks/${task.id}`, { title: 'New' }],
      ['DELETE', `/api/tasks/${task.id}`, undefined],
    ] as const) {
      const response = await service.call(method, path, { body })
      expect([method, path, response.status, response.body.code]).toEqual([
        method,
        path,
        409,
        'project_archived',
      ])
    }
  })

  test('stays as it is when archived again, and works again when unarchived', async () => {
    const project = await service.given.project()
    const first = await service.post(`/api/projects/${project.id}/archive`)

    const second = await service.post(`/api/projects/${project.id}/archive`)
    const back = await service.post(`/api/projects/${project.id}/unarchive`)
    const still = await service.post(`/api/projects/${project.id}/unarchive`)

    expect(second).toMatchObject({ status: 200, body: first.body })
    expect(back).toMatchObject({ status: 200, body: { archivedAt: null } })
    expect(still).toMatchObject({ status: 200, body: back.body })
    expect((await service.post('/api/tasks', { title: 'A', listId: project.inbox.id })).status).toBe(201)
  })

  test('may be requested with an empty body', async () => {
    const project = await service.given.project()

    expect((await service.post(`/api/projects/${project.id}/archive`, {})).status).toBe(200)
  })
})

describe('the default project', () => {
  test('can be renamed, not archived or deleted', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })
    const path = `/api/projects/${task.projectId}`

    expect(await service.patch(path, { name: 'Everything' })).toMatchObject({ status: 200 })
    for (const refused of [await service.post(`${path}/archive`), await service.delete(path)]) {
      expect(refused).toMatchObject({ status: 409, body: { code: 'project_is_default' } })
    }
    expect((await service.post('/api/tasks', { title: 'Another' })).body.projectId).toBe(task.projectId)
  })
})
