import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

describe('read-only fields', () => {
  const CODEHOST = {
    source: 'codehost',
    codehostKind: 'issue',
    codehostNumber: 7,
    codehostRepositoryId: 1,
  } as const

  test.each([
    ['api', true],
    ['codehost', true],
    ['analytics', true],
    ['dashboard', false],
    ['assistant', false],
    ['webhook', false],
  ] as const)('are named: the description of %s tasks is read-only: %s', async (source, isReadOnly) => {
    const { inbox } = await service.given.project()
    const task = await service.given.task(inbox, { source })

    expect((await service.get(`/api/tasks/${task.id}`)).body.descriptionReadOnly).toBe(isReadOnly)
  })

  test.each(['api', 'dashboard', 'assistant', 'webhook'] as const)(
    'do not include the description of %s tasks: a key may change it',
    async (source) => {
      const { inbox } = await service.given.project()
      const task = await service.given.task(inbox, { source, description: 'before' })

      const changed = await service.patch(`/api/tasks/${task.id}`, { description: 'after' })

      expect(changed).toMatchObject({ status: 200, body: { description: 'after' } })
    },
  )

  test.each(['codehost', 'analytics'] as const)('include the description of %s tasks', async (source) => {
    const { inbox } = await service.given.project()
    const task = await service.given.task(inbox, { source, description: 'before' })

    const refused = await service.patch(`/api/tasks/${task.id}`, { description: 'after', notes: 'n' })
    const same = await service.patch(`/api/tasks/${task.id}`, { description: 'before', notes: 'n' })

    expect(refused).toMatchObject({ status: 403, body: { code: 'description_read_only' } })
    expect(same).toMatchObject({ status: 200, body: { notes: 'n', version: 2 } })
  })

  test.each([
    ['title', 'B'],
    ['labels', ['b']],
    ['assignees', ['b']],
    ['externalUrl', 'https://b.example/'],
  ])('include the %s of codehost tasks while their repository is connected', async (field, value) => {
    const { id: projectId, inbox } = await service.given.project()
    const connection = await service.given.connection(projectId)
    const task = await service.given.task(inbox, CODEHOST)

    const refused = await service.patch(`/api/tasks/${task.id}`, { [field]: value, notes: 'n' })

    expect(refused).toMatchObject({ status: 403, body: { code: 'managed_by_codehost' } })
    expect(refused.body.detail).toContain(field)
    expect((await service.get(`/api/tasks/${task.id}`)).body.version).toBe(1)

    await service.query('update codehost_connections set repository_id = 2 where id = $1', [connection.id])
    const changed = await service.patch(`/api/tasks/${task.id}`, { [field]: value })
    expect(changed).toMatchObject({ status: 200, body: { [field]: value } })
    await service.delete(`/api/projects/${projectId}/codehost`)
    const bulk = await service.patch('/api/tasks/bulk', { ids: [task.id], change: { [field]: value } })
    expect(bulk).toMatchObject({ status: 200, body: { unchanged: 1 } })
    expect(await service.patch(`/api/tasks/${task.id}`, { description: 'after' })).toMatchObject({
      status: 403,
      body: { code: 'description_read_only' },
    })
  })

  test('include the project of codehost tasks, but not their list', async () => {
    const [here, there] = [await service.given.project(), await service.given.project()]
    const list = await service.given.list(here.id)
    await service.given.connection(here.id)
    const task = await service.given.task(here.inbox, CODEHOST)

    const refused = await service.patch(`/api/tasks/${task.id}`, { listId: there.inbox.id })
    const moved = await service.patch(`/api/tasks/${task.id}`, { listId: list.id })

    expect(refused).toMatchObject({ status: 403, body: { code: 'managed_by_codehost' } })
    expect(moved).toMatchObject({ status: 200, body: { listId: list.id } })

    expect((await service.delete(`/api/projects/${here.id}/codehost`)).status).toBe(204)
    const away = await service.patch(`/api/tasks/${task.id}`, { listId: there.inbox.id })
    expect(away).toMatchObject({ status: 200, body: { projectId: there.id } })
  })

  test('prevent a second task of an issue in a project', async () => {
    const [here, there] = [await service.given.project(), await service.given.project()]
    const task = await service.given.task(here.inbox, CODEHOST)
    const other = await service.given.task(there.inbox, CODEHOST)
    await service.delete(`/api/tasks/${other.id}`)
    const change = { listId: there.inbox.id }

    const refused = { status: 409, body: { code: 'external_id_taken' } }
    expect(await service.patch(`/api/tasks/${task.id}`, change)).toMatchObject(refused)
    expect(await service.patch('/api/tasks/bulk', { ids: [task.id], change })).toMatchObject(refused)
  })

  test.each(['codehost', 'analytics', 'dashboard', 'assistant'] as const)(
    'never include status, priority, notes and metadata: %s',
    async (source) => {
      const { inbox } = await service.given.project()
      const task = await service.given.task(inbox, { source })
      const change = { status: 'done', priority: 'high', notes: 'n', metadata: { a: 1 } }

      expect(await service.patch(`/api/tasks/${task.id}`, change)).toMatchObject({
        status: 200,
        body: change,
      })
    },
  )

  test('do not include title, labels, assignees and URL of analytics tasks', async () => {
    const { inbox } = await service.given.project()
    const task = await service.given.task(inbox, { source: 'analytics' })
    const change = { title: 'B', labels: ['b'], assignees: ['b'], externalUrl: 'https://b.example/' }

    expect(await service.patch(`/api/tasks/${task.id}`, change)).toMatchObject({ status: 200, body: change })
  })
})
