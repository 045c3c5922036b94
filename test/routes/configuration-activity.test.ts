import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ApiResponse } from '../support/app.ts'
import { feedback, sender } from '../support/feedback.ts'
import { listenTo } from '../support/stream.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

const WEBHOOK_SECRET = 'a-webhook-secret-of-the-tests'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({
    env: { WEBHOOK_SECRET },
    tokens: { first: {}, second: {} },
  })
  service.host.repository('acme/app')
  service.host.repository('acme/other')
})
afterEach(() => service.query('alter table activity drop constraint if exists nothing_new'))
afterAll(() => service.close())

// biome-ignore lint/suspicious/noExplicitAny: activity as it came over the wire.
type Recorded = any

/** What was written of a family since the newest before. */
async function recorded(family: string, work: () => Promise<unknown>): Promise<Recorded[]> {
  const [{ max }] = (await service.query('select max(id::text) from activity')) as [{ max: string }]
  await work()
  const { body } = await service.get('/api/activity?limit=200')
  return body.data
    .filter(({ id, type }: Recorded) => id > (max ?? '') && type.startsWith(`${family}.`))
    .reverse()
    .map(({ type, projectId, actor, metadata }: Recorded) => ({
      type,
      projectId,
      actor: actor.type,
      metadata,
    }))
}

const ok = async (response: Promise<ApiResponse>) => {
  const { status, body } = await response
  if (status >= 300) throw new Error(JSON.stringify(body))
  return body
}

describe('activity', () => {
  test('records what happens to a project', async () => {
    let id = ''
    const activities = await recorded('project', async () => {
      id = (await ok(service.post('/api/projects', { name: 'New' }))).id
      await ok(service.patch(`/api/projects/${id}`, { name: 'Newer' }))
      await ok(service.patch(`/api/projects/${id}`, { name: 'Newer' }))
      await ok(service.post(`/api/projects/${id}/archive`))
      await ok(service.post(`/api/projects/${id}/archive`))
      await ok(service.post(`/api/projects/${id}/unarchive`))
      await ok(service.post(`/api/projects/${id}/unarchive`))
      await ok(service.delete(`/api/projects/${id}`))
    })
    const activity = (type: string, metadata: object) => ({ type, projectId: id, actor: 'key', metadata })
    expect(activities).toEqual([
      activity('project.created', { name: 'New' }),
      activity('project.updated', { changes: { name: { from: 'New', to: 'Newer' } } }),
      activity('project.archived', { name: 'Newer' }),
      activity('project.unarchived', { name: 'Newer' }),
      activity('project.deleted', { name: 'Newer' }),
    ])
  })

  test('records what happens to a list', async () => {
    const project = await service.given.project()
    let id = ''
    const activities = await recorded('list', async () => {
      id = (await ok(service.post(`/api/projects/${project.id}/lists`, { name: 'Later' }))).id
      await ok(service.patch(`/api/lists/${id}`, { name: 'Soon', position: 0 }))
      await ok(service.patch(`/api/lists/${id}`, { name: 'Soon', position: 0 }))
      await ok(service.delete(`/api/lists/${id}?moveTo=${project.inbox.id}`))
    })
    const activity = (type: string, metadata: object) => ({
      type,
      projectId: project.id,
      actor: 'key',
      metadata,
    })
    const changes = { name: { from: 'Later', to: 'Soon' }, position: { from: 1, to: 0 } }
    expect(activities).toEqual([
      activity('list.created', { listId: id, name: 'Later', position: 1 }),
      activity('list.updated', { listId: id, name: 'Soon', changes }),
      activity('list.deleted', { listId: id, name: 'Soon', moveTo: project.inbox.id }),
    ])
  })

  test('records that feedback created its list', async () => {
    const project = await service.given.project()
    await ok(service.post('/api/webhook-routing', { appMatch: 'com.list', targetProjectId: project.id }))
    const deliver = sender(service.url, WEBHOOK_SECRET)
    const activities = await recorded('list', async () => {
      await deliver(feedback({ app_id: 'com.list' }))
      await deliver(feedback({ app_id: 'com.list' }))
    })
    expect(activities).toMatchObject([
      {
        type: 'list.created',
        projectId: project.id,
        actor: 'analytics',
        metadata: { name: 'User Feedback', position: 1 },
      },
    ])
  })

  test('records what happens to a connection, and never a token', async () => {
    const project = await service.given.project()
    const path = `/api/projects/${project.id}/codehost`
    const put = (body: object) => ok(service.put(path, { repository: 'acme/app', ...body }))
    const activities = await recorded('connection', async () => {
      await put({ token: 'first' })
      await put({})
      await put({ token: 'second', schedule: 'off', listId: project.inbox.id, comments: true })
      await put({ repository: 'acme/other' })
      await put({ repository: 'acme/other', token: null })
      await ok(service.delete(path))
    })
    const apiUrl = service.host.url
    const activity = (type: string, repository: string, more: object) => ({
      type: `connection.${type}`,
      projectId: project.id,
      actor: 'key',
      metadata: { connectionId: expect.any(String), repository, apiUrl, ...more },
    })
    expect(activities).toEqual([
      activity('created', 'acme/app', {
        listId: null,
        schedule: 'hourly',
        writeBack: 'off',
        comments: false,
        hasToken: true,
      }),
      activity('updated', 'acme/app', {
        changes: {
          listId: { from: null, to: project.inbox.id },
          schedule: { from: 'hourly', to: 'off' },
          comments: { from: false, to: true },
          token: 'changed',
        },
      }),
      activity('updated', 'acme/other', { changes: { repository: { from: 'acme/app', to: 'acme/other' } } }),
      activity('updated', 'acme/other', { changes: { token: 'removed' } }),
      activity('deleted', 'acme/other', {}),
    ])
    expect(JSON.stringify(activities)).not.toMatch(/first|second/)
  })

  test('records that a sync found the repository under another name', async () => {
    const { project, repository, sync } = await service.connected({}, 1)
    const before = repository.name
    repository.rename('acme/renamed-for-activity')
    const activities = await recorded('connection', () => sync())
    expect(activities).toMatchObject([
      {
        type: 'connection.updated',
        projectId: project.id,
        actor: 'codehost',
        metadata: { changes: { repository: { from: before, to: 'acme/renamed-for-activity' } } },
      },
    ])
  })

  test('records what happens to a routing rule, not visible to keys bound to a project', async () => {
    const project = await service.given.project()
    const key = await service.given.key({ projectId: project.id })
    let id = ''
    const activities = await recorded('routing', async () => {
      const body = { name: 'App', appMatch: 'com.app', targetProjectId: project.id, position: 0 }
      id = (await ok(service.post('/api/webhook-routing', body))).id
      await ok(service.patch(`/api/webhook-routing/${id}`, { name: null, isActive: false }))
      await ok(service.patch(`/api/webhook-routing/${id}`, { isActive: false }))
      await ok(service.delete(`/api/webhook-routing/${id}`))
    })
    const activity = (type: string, metadata: object) => ({
      type: `routing.${type}`,
      projectId: null,
      actor: 'key',
      metadata: { routingRuleId: id, ...metadata },
    })
    const rule = { projectMatch: null, appMatch: 'com.app', targetProjectId: project.id, position: 0 }
    expect(activities).toEqual([
      activity('created', { ...rule, name: 'App', isActive: true }),
      activity('updated', {
        name: null,
        changes: { name: { from: 'App', to: null }, isActive: { from: true, to: false } },
      }),
      activity('deleted', { ...rule, name: null, isActive: false }),
    ])
    const seen = (await service.get('/api/activity?limit=200', { key })).body.data
    expect(seen.filter(({ type }: Recorded) => type.startsWith('routing.'))).toEqual([])
  })

  test('records who signed in and out, and never the cookie', async () => {
    const project = await service.given.project()
    const key = await service.given.key({ name: 'Ada', projectId: project.id })
    const { id: keyId } = await ok(service.get('/api/me', { key }))
    let ids: string[] = []
    const activities = await recorded('session', async () => {
      const open = async () => (await ok(service.post('/api/sessions', { key }, { key: null }))).id
      ids = [await open(), await open(), await open()]
      await ok(service.delete(`/api/sessions/${ids[0]}`))
      await ok(service.delete('/api/sessions', { key }))
    })
    const activity = (type: string, metadata: object) => ({
      type: `session.${type}`,
      projectId: project.id,
      actor: 'key',
      metadata,
    })
    expect(activities).toEqual([
      ...ids.map((sessionId) => activity('created', { sessionId, keyId })),
      activity('ended', { sessionId: ids[0], keyId, keyName: 'Ada' }),
      activity('ended', { all: true, count: 2 }),
    ])
  })

  test('records once that a session ended, when two requests end it at once', async () => {
    const { id } = await ok(service.post('/api/sessions', { key: service.adminKey }, { key: null }))
    const activities = await recorded('session', async () => {
      const responses = await Promise.all([1, 2, 3].map(() => service.delete(`/api/sessions/${id}`)))
      expect(responses.map(({ status }) => status).sort()).toEqual([204, 404, 404])
    })
    expect(activities).toHaveLength(1)
  })
})

test('is in the stream as it is written, within the reach of the caller', async () => {
  const project = await service.given.project()
  const key = await service.given.key({ projectId: project.id })
  const [bound, all] = [await listenTo(service, { key }), await listenTo(service)]
  await ok(service.post('/api/webhook-routing', { appMatch: 'com.s', targetProjectId: project.id }))
  await ok(service.post(`/api/projects/${project.id}/lists`, { name: 'Later' }))
  const isThere = (type: string) => (events: { event: string }[]) =>
    events.some(({ event }) => event === type)
  await bound.until(isThere('list.created'))
  const events = await all.until(isThere('list.created'))
  expect(isThere('routing.created')(events)).toBe(true)
  expect(isThere('routing.created')(bound.events)).toBe(false)
  bound.close()
  all.close()
})

describe('a change whose activity cannot be written', () => {
  /** What each family does, and how to see whether it was done. */
  const CHANGES: [string, (projectId: string) => Promise<{ work: Promise<ApiResponse>; query: string }>][] = [
    [
      'project',
      async () => ({
        work: service.post('/api/projects', { name: 'Half made' }),
        query: "select id from projects where name = 'Half made'",
      }),
    ],
    [
      'list',
      async (id) => ({
        work: service.post(`/api/projects/${id}/lists`, { name: 'Half made' }),
        query: "select id from lists where name = 'Half made'",
      }),
    ],
    [
      'connection',
      async (id) => ({
        work: service.put(`/api/projects/${id}/codehost`, { repository: 'acme/app' }),
        query: `select id from codehost_connections where project_id = '${id}'`,
      }),
    ],
    [
      'routing',
      async (id) => ({
        work: service.post('/api/webhook-routing', { appMatch: 'half.made', targetProjectId: id }),
        query: "select id from webhook_routing where app_match = 'half.made'",
      }),
    ],
    [
      'session',
      async () => {
        const key = await service.given.key({ name: 'half made' })
        return {
          work: service.post('/api/sessions', { key }, { key: null }),
          query: "select s.id from sessions s join api_keys k on k.id = s.key_id where k.name = 'half made'",
        }
      },
    ],
  ]

  test.each(CHANGES)('is rolled back: %s', async (family, change) => {
    const project = await service.given.project()
    await service.query(
      `alter table activity add constraint nothing_new check (type not like '${family}.%') not valid`,
    )
    const { work, query } = await change(project.id)
    expect((await work).status).toBe(500)
    expect(await service.query(query)).toEqual([])
  })
})
