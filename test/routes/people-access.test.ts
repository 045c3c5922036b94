import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopesOf } from '../../src/domain/people.ts'
import { Role } from '../../src/schemas/user.ts'
import { type ApiResponse, startApp, type TestApp } from '../support/app.ts'
import { callRoute, guardedRoutesOf, oneOfEach, type ResourceIds } from '../support/guarded-routes.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { person, signInAs } from '../support/people.ts'
import type { Route } from '../support/routes.ts'
import { SENDING_ENV } from '../support/webhooks.ts'

let service: TestApp
let guarded: Route[]
const connect = mcpConnections(() => service)
let ids: ResourceIds
beforeAll(async () => {
  service = await startApp({ env: SENDING_ENV })
  // Assistants send a key.
  guarded = guardedRoutesOf(service).filter(({ name }) => !name.endsWith(' /mcp'))
})
afterAll(() => service.close())

const projects = (count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await service.given.project()).id))

/** Changed only by the author, or with `admin`: that of the tests is another's. */
const OWN_ONLY = ['PATCH /api/comments/:id', 'DELETE /api/comments/:id']

interface Rights {
  role: Role
  /** In how many projects; 0 for all. */
  reach: number
}

interface Responded extends Pick<ApiResponse, 'status' | 'body'> {
  route: Route
}

/** Whether the role and the reach allow a route, whatever it is about. */
function isAllowed({ name, scope, isServiceWide }: Route, { role, reach }: Rights) {
  const isAdmin = role === 'owner'
  if (isServiceWide && reach > 0) return false
  if (OWN_ONLY.includes(name) && !isAdmin) return role === 'member' && reach > 0
  return isAdmin || scope === 'any' || scopesOf(role).some((own) => own === scope)
}

const REACHES = [0, 1, 3]
const PEOPLE = Role.flatMap((role) => REACHES.map((reach) => [role, reach] as const)).filter(
  ([role, reach]) => role !== 'owner' || reach === 0,
)

/** Holds the response of a route against the rights of the person. */
function expectByRights({ route, status, body }: Responded, { role, reach }: Rights) {
  if (!isAllowed(route, { role, reach })) {
    expect([route.name, status, body.code]).toEqual([route.name, 403, 'insufficient_scope'])
  } else if (route.needsServiceKey) {
    expect([route.name, status, body.code]).toEqual([route.name, 403, 'service_key_required'])
  } else if (reach > 0 && route.name.includes('/:')) {
    // What the path names is in another project.
    expect([route.name, status]).toEqual([route.name, 404])
  } else {
    expect([route.name, status]).not.toEqual([route.name, 403])
    expect([route.name, status]).not.toEqual([route.name, 401])
    // What needs another service, which these tests have not, is 503.
    expect([route.name, status === 503 || status < 500]).toEqual([route.name, true])
  }
}

describe('every guarded route', () => {
  test.each(PEOPLE)('is allowed to a person by role and reach: %s of %i projects', async (role, reach) => {
    ids = await oneOfEach(service)
    let somebody = await person(service, { role, ...(reach > 0 && { projectIds: await projects(reach) }) })
    for (const route of guarded) {
      const { status, body } = await callRoute(service, { route, ids, options: somebody.with })
      expectByRights({ route, status, body }, { role, reach })
      // It ends this one, too.
      if (route.name === 'DELETE /api/sessions') somebody = await signInAs(service, somebody.username)
    }
  })
})

describe('every guarded route with a personal key', () => {
  test.each(PEOPLE)('is allowed as to its person: %s of %i projects', async (role, reach) => {
    ids = await oneOfEach(service)
    const somebody = await person(service, { role, ...(reach > 0 && { projectIds: await projects(reach) }) })
    const scopes = scopesOf(role)
    const { key } = (await service.post('/api/me/keys', { name: 'k', scopes }, somebody.with)).body
    for (const route of guarded) {
      const { status, body } = await callRoute(service, { route, ids, options: { key } })
      if (!route.isOfPersonalKeys) {
        expect([route.name, status, body.code]).toEqual([route.name, 403, 'person_required'])
      } else if (route.isBeyondPersonalKeys && isAllowed(route, { role, reach })) {
        expect([route.name, status, body.code]).toEqual([route.name, 403, 'personal_key'])
      } else {
        expectByRights({ route, status, body }, { role, reach })
      }
    }
  })

  test('has no more of its person’s projects than it is bound to, over MCP', async () => {
    const own = await projects(3)
    const ada = await person(service, { projectIds: own, name: 'Ada' })
    const made = await service.post('/api/me/keys', { name: 'k', projectId: own[1] }, ada.with)
    const client = await connect({ key: made.body.key })
    const { data } = await callTool(client, 'create_task', { title: 'By an assistant' })
    const task = (await service.get(`/api/tasks/${data.id}`)).body
    expect([task.projectId, task.source]).toEqual([own[1], 'assistant'])
    const activity = (await service.get(`/api/activity?taskId=${task.id}`)).body.data
    expect(activity[0].actor).toEqual({ type: 'user', id: ada.id, name: 'Ada' })
    const [inbox] = (await service.get(`/api/projects/${own[0]}/lists`)).body.data
    await service.post('/api/tasks', { title: 'In another project', listId: inbox.id }, ada.with)
    const found = await callTool(client, 'list_tasks', {})
    expect(found.data.data.map(({ id }: { id: string }) => id)).toEqual([task.id])
  })
})
