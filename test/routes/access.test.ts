import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Scope } from '../../src/schemas/caller.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type Route, routesOf } from '../support/routes.ts'
import { SENDING_ENV } from '../support/webhooks.ts'

/** The resource behind `:id` and other parameters of each route; its project is not the one of the keys below. */
type Resource =
  | 'task'
  | 'comment'
  | 'list'
  | 'project'
  | 'key'
  | 'session'
  | 'webhook'
  | 'webhookSecret'
  | 'rule'
  | 'activity'
  | 'delivery'
  | 'routingRule'
  | 'source'
  | 'savedFilter'

const RESOURCE_OF: [prefix: string, resource: Resource][] = [
  ['/api/tasks/:', 'task'],
  ['/api/comments/:', 'comment'],
  ['/api/lists/:', 'list'],
  ['/api/projects/:', 'project'],
  ['/api/keys/:', 'key'],
  ['/api/sessions/:', 'session'],
  ['/api/webhooks/:', 'webhook'],
  ['/api/webhook-secrets/:', 'webhookSecret'],
  ['/api/rules/:', 'rule'],
  ['/api/activity/:', 'activity'],
  ['/api/deliveries/:', 'delivery'],
  ['/api/webhook-routing/:', 'routingRule'],
  ['/api/codehost/:', 'project'],
  ['/api/sources/:', 'source'],
  ['/api/saved-filters/:', 'savedFilter'],
]

let service: TestApp
let guarded: Route[]
let ids: Record<Resource, string>

beforeAll(async () => {
  service = await startApp({ env: SENDING_ENV })
  guarded = routesOf(service.app).filter(({ scope }) => scope)
  ids = await makeOneOfEach()
})
afterAll(() => service.close())

async function makeOneOfEach(): Promise<Record<Resource, string>> {
  const project = await service.given.project()
  const task = await service.given.task(project.inbox)
  const comment = (await service.post(`/api/tasks/${task.id}/comments`, { body: 'A comment' })).body
  const key = (await service.post('/api/keys', { name: 'of the project', projectId: project.id })).body
  const session = (await service.post('/api/sessions', { key: key.key }, { key: null })).body
  const rule = (await service.post('/api/rules', { content: 'Be kind.', projectId: project.id })).body
  const activity = (await service.post('/api/activity', { type: 'deploy', projectId: project.id })).body
  const filter = { name: 'Open', query: { status: ['open'] } }
  const savedFilter = (await service.post('/api/saved-filters', filter)).body
  const hook = { name: 'Chat', url: 'http://127.0.0.1:9/hook', projectId: project.id }
  const webhook = (await service.post('/api/webhooks', hook)).body
  const nothing = '00000000-0000-7000-8000-000000000000'
  return {
    task: task.id,
    comment: comment.id,
    list: project.inbox.id,
    project: project.id,
    key: key.id,
    session: session.id,
    rule: rule.id,
    activity: activity.id,
    savedFilter: savedFilter.id,
    webhook: webhook.id,
    // Service-wide: a bound key is refused before anybody looks for it.
    webhookSecret: nothing,
    delivery: nothing,
    routingRule: nothing,
    source: nothing,
  }
}

describe('every guarded route', () => {
  test('is covered by these tests', () => {
    expect(guarded.length).toBeGreaterThan(20)
  })

  test.each([
    ['absent', () => null, 'missing_credentials'],
    ['empty', () => '', 'missing_credentials'],
    ['unknown', () => 'inl_00000000_nobody', 'invalid_credentials'],
    ['truncated', () => service.adminKey.slice(0, -1), 'invalid_credentials'],
    ['sent twice', () => `${service.adminKey}, ${service.adminKey}`, 'invalid_credentials'],
    ['in another case', () => service.adminKey.toUpperCase(), 'invalid_credentials'],
    ['expired', () => service.given.key({ expiresAt: new Date(Date.now() - 1000) }), 'expired_credentials'],
    ['revoked', () => service.given.key({ revokedAt: new Date() }), 'invalid_credentials'],
  ])('rejects a key that is %s', async (_, makeKey, code) => {
    const key = await makeKey()
    for (const route of guarded) {
      const response = await request(route, key)
      expect([route.name, response.status, response.body.code]).toEqual([route.name, 401, code])
    }
  })

  test.each(Scope.map((scope) => [scope]))('lets %s do what it names and nothing else', async (scope) => {
    const key = await service.given.key({ scopes: [scope] })
    for (const route of guarded) {
      const response = await request(route, key)
      const isAllowed = route.scope === 'any' || route.scope === scope || scope === 'admin'
      if (isAllowed && OWN_ONLY.includes(route.name) && scope !== 'admin') {
        expect([route.name, response.status, response.body.requiredScope]).toEqual([route.name, 403, 'admin'])
      } else if (isAllowed) {
        expect([route.name, response.status]).not.toEqual([route.name, 403])
        expect([route.name, response.status]).not.toEqual([route.name, 401])
      } else {
        expect([route.name, response.status, response.body.code, response.body.requiredScope]).toEqual([
          route.name,
          403,
          'insufficient_scope',
          route.scope,
        ])
      }
    }
  })

  test('shows a key bound to another project nothing of this one', async () => {
    // The tests before ended what they were let at: here everything is there, and it is the reach that hides it.
    ids = await makeOneOfEach()
    const other = await service.given.project()
    const key = await service.given.key({ scopes: ['admin'], projectId: other.id })
    for (const route of guarded) {
      const isAbout = route.name.includes('/:')
      if (!isAbout && !route.isServiceWide) continue
      const response = await request(route, key)
      expect([route.name, response.status]).toEqual([route.name, route.isServiceWide ? 403 : 404])
    }
    for (const path of [
      `/api/tasks/${ids.task}`,
      `/api/comments/${ids.comment}`,
      `/api/rules/${ids.rule}`,
      `/api/activity/${ids.activity}`,
      `/api/webhooks/${ids.webhook}`,
    ]) {
      expect([path, (await service.get(path)).status]).toEqual([path, 200])
    }
  })

  test('rejects references to another project in a query or a body', async () => {
    ids = await makeOneOfEach()
    const other = await service.given.project()
    const key = await service.given.key({ scopes: ['admin'], projectId: other.id })
    const own = await service.given.task(other.inbox)
    const foreign: [method: string, path: string, body?: object][] = [
      ['GET', `/api/tasks?projectId=${ids.project}`],
      ['GET', `/api/tasks?listId=${ids.list}`],
      ['GET', `/api/activity?projectId=${ids.project}`],
      ['GET', `/api/activity?taskId=${ids.task}`],
      ['GET', `/api/rules?projectId=${ids.project}`],
      ['GET', `/api/context?projectId=${ids.project}`],
      ['GET', `/api/stream?projectId=${ids.project}`],
      ['GET', `/api/changes?projectId=${ids.project}`],
      ['POST', '/api/tasks', { title: 'x', listId: ids.list }],
      ['POST', '/api/tasks/bulk', { listId: ids.list, tasks: [{ title: 'x' }] }],
      ['PATCH', `/api/tasks/${own.id}`, { listId: ids.list }],
      ['POST', '/api/activity', { type: 'deploy', projectId: ids.project }],
      ['POST', '/api/activity', { type: 'deploy', taskId: ids.task }],
      ['POST', '/api/keys', { name: 'x', projectId: ids.project }],
      ['POST', '/api/rules', { content: 'x', projectId: ids.project }],
    ]
    for (const [method, path, body] of foreign) {
      const response = await service.call(method, path, { key, ...(body && { body }) })
      expect([method, path, response.status]).toEqual([method, path, 404])
    }
  })
})

/** Calls a route with what its path names and, where it takes one, the smallest body that is valid. */
function request(route: Route, key: string | null) {
  const path = pathOf(route)
  const body = BODIES[route.name]
  // A stream that is let in never ends; its headers are all that is asked here.
  if (route.name === 'GET /api/stream') return firstResponse(path, key)
  return service.call(route.method, path, { key, ...(body && { body }) })
}

/** The comment is of another key: only `admin` may change it. */
const OWN_ONLY = ['PATCH /api/comments/:id', 'DELETE /api/comments/:id']

/** Bodies without which a route would refuse the request before it looks whose the thing is. */
const BODIES: Record<string, object> = {
  'POST /api/tasks/:id/claim/renew': { number: 1 },
  'POST /api/tasks/:id/comments': { body: 'A comment' },
  'POST /api/tasks/:id/merge': { into: '00000000-0000-7000-8000-000000000000' },
  'PATCH /api/comments/:id': { body: 'Another text' },
  'PATCH /api/rules/:id': { isActive: true },
  'POST /api/rules/:id/revert': { version: 1 },
  'POST /api/projects/:id/lists': { name: 'A list' },
  'PUT /api/projects/:id/codehost': {
    repository: 'acme/app',
    // Looked for before anybody is asked over the network.
    listId: '00000000-0000-7000-8000-000000000000',
  },
}

/** The same for queries. */
const QUERIES: Record<string, string> = { 'DELETE /api/tasks/:id/claim': '?number=1' }

function pathOf({ name }: Route): string {
  const url = name.slice(name.indexOf(' ') + 1)
  if (!url.includes('/:')) return url
  const resource = RESOURCE_OF.find(([prefix]) => url.startsWith(prefix))?.[1]
  if (!resource) throw new Error(`Add the resource of ${name} to RESOURCE_OF.`)
  // Later parameters of the path are never looked up, so any id does.
  const path = url.replace(/:\w+/, ids[resource]).replace(/:\w+/, '00000000-0000-7000-8000-000000000000')
  return path + (QUERIES[name] ?? '')
}

async function firstResponse(path: string, key: string | null) {
  const controller = new AbortController()
  const response = await fetch(service.url + path, {
    headers: key === null ? {} : { 'x-api-key': key },
    signal: controller.signal,
  })
  const body = response.ok ? undefined : await response.json()
  controller.abort()
  return { status: response.status, body }
}
