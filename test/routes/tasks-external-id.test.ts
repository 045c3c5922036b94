import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

describe('an externalId', () => {
  test('that was sent before returns the existing task in its present state', async () => {
    const { inbox } = await service.given.project()
    const first = await service.post('/api/tasks', { title: 'First', listId: inbox.id, externalId: 'x-1' })
    await service.patch(`/api/tasks/${first.body.id}`, { status: 'done' })

    const second = await service.post('/api/tasks', { title: 'Second', listId: inbox.id, externalId: 'x-1' })

    expect(second.status).toBe(200)
    expect(second.headers.get('location')).toBeNull()
    expect(second.headers.get('etag')).toBe('"2"')
    expect(second.body).toMatchObject({ id: first.body.id, title: 'First', status: 'done', version: 2 })
    const activities = await service.query('select type from activity where project_id = $1', [
      inbox.projectId,
    ])
    expect(activities.map(({ type }) => type).sort()).toEqual(['task.completed', 'task.created'])
  })

  test('also finds its task in another list of the project', async () => {
    const project = await service.given.project()
    const other = await service.given.list(project.id)
    const first = await service.post('/api/tasks', { title: '1', listId: project.inbox.id, externalId: 'x' })

    const second = await service.post('/api/tasks', { title: '2', listId: other.id, externalId: 'x' })

    expect(second).toMatchObject({ status: 200, body: { id: first.body.id, listId: project.inbox.id } })
  })

  test('belongs to one project and one source', async () => {
    const [here, there] = [await service.given.project(), await service.given.project()]
    await service.given.task(here.inbox, { source: 'analytics', externalId: 'x-1' })

    const responses = [
      await service.post('/api/tasks', { title: 'A', listId: here.inbox.id, externalId: 'x-1' }),
      await service.post('/api/tasks', { title: 'B', listId: there.inbox.id, externalId: 'x-1' }),
    ]

    expect(responses.map(({ status }) => status)).toEqual([201, 201])
  })

  test('is free again once its task is deleted', async () => {
    const { inbox } = await service.given.project()
    const input = { title: 'A task', listId: inbox.id, externalId: 'x-1' }
    const first = await service.post('/api/tasks', input)
    await service.delete(`/api/tasks/${first.body.id}`)

    const second = await service.post('/api/tasks', input)

    expect(second.status).toBe(201)
    expect(second.body.id).not.toBe(first.body.id)
  })

  test('is case-sensitive and keeps its spaces', async () => {
    const { inbox } = await service.given.project()

    for (const externalId of ['a', 'A', ' a', 'a ']) {
      const made = await service.post('/api/tasks', { title: 'A task', listId: inbox.id, externalId })
      expect(made).toMatchObject({ status: 201, body: { externalId } })
    }
  })

  test('that is null does not count', async () => {
    const made = await service.post('/api/tasks', { title: 'A task', externalId: null })
    const again = await service.post('/api/tasks', { title: 'A task', externalId: null })

    expect([made.status, again.status]).toEqual([201, 201])
    expect(made.body.id).not.toBe(again.body.id)
  })
})
