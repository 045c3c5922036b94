import type { CallOptions, TestApp } from './app.ts'
import { type Route, routesOf } from './routes.ts'

/** The resource behind `:id` and other parameters of each route; its project is not the one of the keys below. */
type Resource =
  | 'task'
  | 'comment'
  | 'list'
  | 'project'
  | 'key'
  | 'personalKey'
  | 'session'
  | 'webhook'
  | 'webhookSecret'
  | 'rule'
  | 'activity'
  | 'delivery'
  | 'routingRule'
  | 'source'
  | 'savedFilter'
  | 'user'
  | 'invite'
  | 'passkey'
  | 'identityProvider'
  | 'identity'

const RESOURCE_OF: [prefix: string, resource: Resource][] = [
  ['/api/tasks/:', 'task'],
  ['/api/comments/:', 'comment'],
  ['/api/lists/:', 'list'],
  ['/api/projects/:', 'project'],
  ['/api/keys/:', 'key'],
  ['/api/me/keys/:', 'personalKey'],
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
  ['/api/users/:', 'user'],
  ['/api/invites/:', 'invite'],
  ['/api/me/passkeys/:', 'passkey'],
  ['/api/identity-providers/:', 'identityProvider'],
  ['/api/me/identities/:', 'identity'],
]

export type ResourceIds = Record<Resource, string>

export const guardedRoutesOf = ({ app }: TestApp): Route[] => routesOf(app).filter(({ scope }) => scope)

/** Creates one of each resource, in a project of its own. */
export async function oneOfEach(service: TestApp): Promise<ResourceIds> {
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
    user: nothing,
    personalKey: nothing,
    invite: nothing,
    passkey: nothing,
    identityProvider: nothing,
    identity: nothing,
  }
}

interface RouteCall {
  route: Route
  ids: ResourceIds
  options: CallOptions
}

/** Calls a route with what its path names and, where it takes one, the smallest body that is valid. */
export function callRoute(service: TestApp, { route, ids, options }: RouteCall) {
  const path = pathOf(route, ids)
  const body = BODIES[route.name]
  // A stream that is let in never ends; its headers are all that is asked here.
  if (route.name === 'GET /api/stream') return firstResponse(service, { path, options })
  return service.call(route.method, path, { ...options, ...(body && { body }) })
}

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

function pathOf({ name }: Route, ids: ResourceIds): string {
  const url = name.slice(name.indexOf(' ') + 1)
  if (!url.includes('/:')) return url
  const resource = RESOURCE_OF.find(([prefix]) => url.startsWith(prefix))?.[1]
  if (!resource) throw new Error(`Add the resource of ${name} to RESOURCE_OF.`)
  // Later parameters of the path are never looked up, so any id does.
  const path = url.replace(/:\w+/, ids[resource]).replace(/:\w+/, '00000000-0000-7000-8000-000000000000')
  return path + (QUERIES[name] ?? '')
}

async function firstResponse(
  { url }: TestApp,
  { path, options: { key = null, headers = {} } }: { path: string; options: CallOptions },
) {
  const controller = new AbortController()
  const response = await fetch(url + path, {
    headers: { ...headers, ...(key !== null && { 'x-api-key': key }) },
    signal: controller.signal,
  })
  const body = response.ok ? undefined : await response.json()
  controller.abort()
  return { status: response.status, body }
}
