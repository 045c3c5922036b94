import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from './support/app.ts'
import { routesOf } from './support/routes.ts'

/** The routes without credentials, each with its reason. Every other route must refuse. */
const PUBLIC_ROUTES: Record<string, string> = {
  'GET /': 'the page asks for a key itself',
  'GET /robots.txt': 'crawlers have no keys',
  'GET /healthz': 'load balancers have no keys',
  'GET /readyz': 'load balancers have no keys',
  'GET /openapi.json': 'the reference is public',
  'GET /problems/:code': 'errors point here',
  'POST /register': 'refuses everybody, and says how to send a key',
  'POST /api/sessions': 'signing in: the key, password or passkey is in the body',
  'POST /api/sessions/passkey-challenge': 'begins to sign in',
  'GET /api/sign-in': 'the page for signing in shows the ways that are on',
  'POST /api/invites/accept': 'the secret is in the body',
  'POST /api/invites/passkey-challenge': 'the secret is in the body',
  'POST /api/invites/accept-at-provider': 'the secret is in the body',
  'GET /auth/:id': 'browsers come to sign in',
  'GET /auth/:id/callback': 'an identity provider sends browsers back, with a cookie of their own',
}

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

describe('every route', () => {
  test('is either listed as public or requires credentials first, whatever the body', async () => {
    const routes = routesOf(service.app).filter(
      ({ name }) => !(name in PUBLIC_ROUTES) && !name.includes('/docs'),
    )
    expect(routes.length).toBeGreaterThan(5)
    for (const { method, path, name } of routes) {
      const response = await service.call(method, path, {
        key: null,
        ...(method !== 'GET' && { body: '{"broken', headers: { 'content-type': 'application/json' } }),
      })
      expect([name, response.status, response.body.code]).toEqual([name, 401, 'missing_credentials'])
      expect(response.headers.get('www-authenticate')).toBe('ApiKey')
    }
  })

  test('rejects a caller without the scope before it reads the body', async () => {
    const key = await service.given.key({ scopes: [] })
    for (const { method, path, name, scope } of routesOf(service.app)) {
      if (!scope || scope === 'any') continue
      const response = await service.call(method, path, {
        key,
        ...(method !== 'GET' && { body: '{"broken', headers: { 'content-type': 'application/json' } }),
      })
      expect([name, response.status, response.body.requiredScope]).toEqual([name, 403, scope])
    }
  })

  test('that requires a caller has an operation', async () => {
    const routes = routesOf(service.app).filter(
      ({ name }) => !(name in PUBLIC_ROUTES) && !name.includes('/docs'),
    )
    const without = routes.filter(({ scope }) => scope === undefined).map(({ name }) => name)
    expect(without).toEqual([
      'POST /api/analytics/webhook',
      'POST /in/codehost/:connectionId',
      'POST /in/sources/:sourceId',
    ])
  })

  test('that is listed as public exists', () => {
    const names = routesOf(service.app).map(({ name }) => name)
    expect(Object.keys(PUBLIC_ROUTES).filter((name) => !names.includes(name))).toEqual([])
  })
})
