import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Scope } from '../../src/schemas/caller.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { CLIENTS, callTool } from '../support/mcp-clients.ts'
import { routesOf } from '../support/routes.ts'

/** Part of every text of the task, so that any leak is found. */
const SECRET = 'salary-of-ada'

let service: TestApp
let key: string
let nextId = 0
beforeAll(async () => {
  service = await startApp()
  key = await service.given.key({ scopes: ['tasks:write'] })
})
afterAll(() => service.close())

/** A task that somebody else filled with what is not for everybody. */
async function secretTask() {
  const { inbox } = await service.given.project()
  const externalId = `external-${++nextId}`
  const [first] = await service.query('select id from api_keys limit 1')
  const task = await service.given.task(inbox, {
    title: SECRET,
    description: SECRET,
    notes: SECRET,
    labels: [SECRET],
    assignees: [SECRET],
    metadata: { SECRET },
    externalId,
    externalUrl: `https://example.com/${SECRET}`,
    createdById: first.id,
    createdByName: SECRET,
  })
  return { ...task, externalId, list: inbox }
}

const onlyVersion = (id: string, version: number) => ({ id, version })

describe('a key without tasks:read', () => {
  test('creates a task and gets its id and version, with the same headers', async () => {
    const response = await service.post('/api/tasks', { title: 'New', description: 'Text' }, { key })
    expect(response.status).toBe(201)
    expect(response.body).toEqual(onlyVersion(expect.any(String), 1))
    expect(response.headers.get('etag')).toBe('"1"')
    expect(response.headers.get('location')).toBe(`/api/tasks/${response.body.id}`)
  })

  test('gets no more of an existing task with its externalId', async () => {
    const { id, externalId, list } = await secretTask()
    const body = { title: 'Anything', externalId, listId: list.id }
    const single = await service.post('/api/tasks', body, { key })
    expect([single.status, single.body]).toEqual([200, onlyVersion(id, 1)])

    const tasks = [{ title: 'Anything', externalId }, { title: 'Other' }]
    const bulk = await service.post('/api/tasks/bulk', { listId: list.id, tasks }, { key })
    expect(bulk.body).toEqual({
      data: [onlyVersion(id, 1), onlyVersion(expect.any(String), 1)],
      created: 1,
      existing: 1,
    })
    const each = await service.post(
      '/api/tasks/bulk?onError=continue',
      { listId: list.id, tasks: [...tasks, { title: '' }] },
      { key },
    )
    expect(each.body.results).toEqual([
      { index: 0, status: 'existing', task: onlyVersion(id, 1) },
      { index: 1, status: 'created', task: onlyVersion(expect.any(String), 1) },
      { index: 2, status: 'failed', errors: [expect.anything()] },
    ])
  })

  test.each([
    ['of nothing', {}, 1],
    ['of one member', { status: 'done' }, 2],
  ])('changes a task, also %s', async (_, change, version) => {
    const { id } = await secretTask()
    const response = await service.patch(`/api/tasks/${id}`, change, { key })
    expect([response.status, response.body]).toEqual([200, onlyVersion(id, version)])
    expect(response.headers.get('etag')).toBe(`"${version}"`)
  })

  test('changes many at once', async () => {
    const ids = [(await secretTask()).id, (await secretTask()).id]
    const response = await service.patch('/api/tasks/bulk', { ids, change: { status: 'done' } }, { key })
    expect(response.body).toEqual({ data: ids.map((id) => onlyVersion(id, 2)), unchanged: 0 })
  })

  test('restores a task, also one that is not deleted', async () => {
    const { id } = await secretTask()
    const restore = () => service.post(`/api/tasks/${id}/restore`, undefined, { key })
    expect((await restore()).body).toEqual(onlyVersion(id, 1))
    await service.delete(`/api/tasks/${id}`, { key })
    expect((await restore()).body).toEqual(onlyVersion(id, 3))
  })

  test('gets no more when it repeats a request from when it could read', async () => {
    const { list } = await secretTask()
    const id = (await service.post('/api/keys', { name: 'k', scopes: ['tasks:read', 'tasks:write'] })).body
    const send = (path: string, body: object) =>
      service.post(path, body, { key: id.key, headers: { 'idempotency-key': 'once' } })
    const one = { title: SECRET, description: SECRET }
    const many = { listId: list.id, tasks: [one, { title: '' }] }
    const paths = [
      ['/api/tasks', one],
      ['/api/tasks/bulk?onError=continue', many],
    ] as const
    for (const [path, body] of paths) expect(JSON.stringify((await send(path, body)).body)).toContain(SECRET)

    await service.query("update api_keys set scopes = '{tasks:write}' where id = $1", [id.id])
    service.service.access.forget()
    for (const [path, body] of paths) {
      const again = await send(path, body)
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect(JSON.stringify(again.body)).not.toContain(SECRET)
      expect(JSON.stringify(again.body)).toContain('"version":1')
    }
  })

  test('gets nothing of a task on any route, whatever its other scopes', async () => {
    const { id, list, externalId, projectId } = await secretTask()
    const scopes = Scope.filter((scope) => scope !== 'tasks:read' && scope !== 'admin')
    const strong = await service.given.key({ scopes })
    const idOf = (name: string) =>
      name.startsWith('/api/tasks') ? id : name.startsWith('/api/lists') ? list.id : projectId
    const bodies: Record<string, object> = {
      'POST /api/tasks': { title: 'x', externalId, listId: list.id },
      'POST /api/tasks/bulk': { listId: list.id, tasks: [{ title: 'x', externalId }] },
      'POST /api/tasks/:id/comments': { body: 'x' },
      'PATCH /api/tasks/:id': { status: 'done' },
      'PATCH /api/tasks/bulk': { ids: [id], change: { status: 'open' } },
      'POST /api/projects/:id/lists': { name: 'A list' },
      'POST /api/activity': { type: 'seen', taskId: id },
      'POST /api/rules': { content: 'x' },
    }
    const routes = routesOf(service.app).filter(
      ({ scope, name }) => scope && scope !== 'admin' && name !== 'GET /api/stream',
    )
    expect(routes.length).toBeGreaterThan(20)
    let well = 0
    for (const { method, name } of routes) {
      const path = name.slice(method.length + 1).replace(/:\w+/g, () => idOf(name.slice(method.length + 1)))
      const body = bodies[name]
      const response = await service.call(method, path, { key: strong, ...(body && { body }) })
      if (response.status < 300) well++
      const shown = JSON.stringify([...response.headers]) + JSON.stringify(response.body)
      expect([name, shown.includes(SECRET)]).toEqual([name, false])
    }
    expect(well).toBeGreaterThan(10)
  })

  test('gets no more from the AI tools', async () => {
    const { id, externalId, list } = await secretTask()
    const client = await CLIENTS['v2 client, 2026-07-28'](service.url, { 'x-api-key': key })
    // The source of a task made by a tool is another one: the same externalId has to be made known first.
    await service.query("update tasks set source = 'assistant' where id = $1", [id])
    const created = await callTool(client, 'create_task', { title: 'x', externalId, listId: list.id })
    expect(created.data).toEqual(onlyVersion(id, 1))
    const updated = await callTool(client, 'update_task', { id, status: 'done' })
    expect(updated.data).toEqual(onlyVersion(id, 2))
    for (const { isError, text } of [created, updated]) {
      expect(isError).toBe(false)
      expect(text).toContain(id)
      expect(text).not.toContain(SECRET)
    }
    await client.close()
  })
})

test('a key with tasks:read gets the whole task', async () => {
  const { id } = await secretTask()
  const both = await service.given.key({ scopes: ['tasks:read', 'tasks:write'] })
  const response = await service.patch(`/api/tasks/${id}`, { status: 'done' }, { key: both })
  expect(response.body).toMatchObject({ title: SECRET, description: SECRET, notes: SECRET, status: 'done' })
})

test('the reference describes what a write returns without tasks:read', async () => {
  const { paths, components } = (await service.get('/openapi.json')).body
  const bodyOf = (operation: { responses: Record<string, { content: object }> }, status: string) =>
    JSON.stringify(operation.responses[status]?.content)
  for (const [operation, status] of [
    [paths['/api/tasks'].post, '200'],
    [paths['/api/tasks'].post, '201'],
    [paths['/api/tasks/{id}'].patch, '200'],
    [paths['/api/tasks/{id}/restore'].post, '200'],
  ]) {
    expect(bodyOf(operation, status)).toContain('WrittenTask')
    expect(operation.description).toContain('tasks:read')
  }
  expect(components.schemas.WrittenTask.required).toEqual(['id', 'version'])
  expect(components.schemas.BulkItem.properties.task.$ref).toContain('WrittenTask')
})
