import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Scope } from '../../src/schemas/caller.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { callRoute, guardedRoutesOf, oneOfEach, type ResourceIds } from '../support/guarded-routes.ts'
import type { Route } from '../support/routes.ts'
import { SENDING_ENV } from '../support/webhooks.ts'

let service: TestApp
let guarded: Route[]
let ids: ResourceIds

beforeAll(async () => {
  service = await startApp({ env: SENDING_ENV })
  guarded = guardedRoutesOf(service)
  ids = await oneOfEach(service)
})
afterAll(() => service.close())

const request = (route: Route, key: string | null) => callRoute(service, { route, ids, options: { key } })

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
      if (isAllowed && route.person) {
        expect([route.name, response.status, response.body.code]).toEqual([
          route.name,
          403,
          'person_required',
        ])
      } else if (isAllowed && OWN_ONLY.includes(route.name) && scope !== 'admin') {
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
    ids = await oneOfEach(service)
    const other = await service.given.project()
    const key = await service.given.key({ scopes: ['admin'], projectId: other.id })
    for (const route of guarded) {
      const isAbout = route.name.includes('/:')
      if (route.person || (!isAbout && !route.isServiceWide)) continue
      const response = await request(route, key)
      expect([route.name, response.status]).toEqual([
        route.name,
        route.isServiceWide || route.person ? 403 : 404,
      ])
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
    ids = await oneOfEach(service)
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

/** The comment is of another key: only `admin` may change it. */
const OWN_ONLY = ['PATCH /api/comments/:id', 'DELETE /api/comments/:id']
