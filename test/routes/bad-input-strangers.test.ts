import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { sendRaw } from '../support/raw.ts'
import { type Route, routesOf } from '../support/routes.ts'

let service: TestApp
let guarded: Route[]
beforeAll(async () => {
  service = await startApp()
  guarded = routesOf(service.app).filter(({ scope, method }) => scope && method !== 'HEAD')
})
afterAll(() => service.close())

/** Whatever is wrong with a request beside the caller. */
const INVALID: [
  what: string,
  sent: { body?: string | Buffer; chunks?: Buffer[]; type?: string; path?: string },
][] = [
  ['broken JSON', { type: 'application/json', body: '{"broken' }],
  ['a poisoned body', { type: 'application/json', body: '{"__proto__":{}}' }],
  ['no UTF-8', { type: 'application/json', body: Buffer.from([0xff]) }],
  ['an invalid body', { type: 'application/json', body: '{"title":5,"nope":1}' }],
  ['a body of the wrong kind', { type: 'application/json', body: 'null' }],
  ['an empty body', { type: 'application/json', body: '' }],
  ['another type', { type: 'text/plain', body: 'text' }],
  ['no type', { body: '{}' }],
  ['a type nobody can read', { type: 'nonsense', body: '{}' }],
  ['a wrong query', { path: '?nope=1&limit=x' }],
  ['a broken query', { path: '?%zz&=&&' }],
  [
    'a body over the limit, in chunks',
    {
      type: 'application/json',
      chunks: Array(5).fill(Buffer.alloc(1024 * 1024, ' ')),
    },
  ],
]

function send({ method, path }: Route, sent: (typeof INVALID)[number][1], key?: string) {
  const { type, path: query = '', ...content } = sent
  return sendRaw(service.url, {
    method,
    path: path + query,
    headers: {
      ...(key !== undefined && { 'x-api-key': key }),
      ...(type !== undefined && { 'content-type': type }),
    },
    ...content,
  })
}

const routesFor = (sent: { body?: unknown; chunks?: unknown }) =>
  // A GET has no body: what comes along is left unread.
  guarded.filter(({ method }) => method !== 'GET' || !(sent.body || sent.chunks))

describe('a caller without credentials', () => {
  test.each(INVALID)('learns nothing from %s, on any route', async (_, sent) => {
    for (const route of routesFor(sent)) {
      const without = await send(route, sent)
      expect([route.name, without.status, without.body.code]).toEqual([
        route.name,
        401,
        'missing_credentials',
      ])
      const refused = await send(route, sent, 'inl_wrong')
      expect([route.name, refused.status, refused.body.code]).toEqual([
        route.name,
        401,
        'invalid_credentials',
      ])
      expect(refused.headers.get('www-authenticate')).toBe('ApiKey')
      expect(refused.body).not.toHaveProperty('errors')
    }
  })

  test('learns nothing from an invalid id', async () => {
    for (const route of guarded.filter(({ path }) => path.includes('00000000-'))) {
      const path = route.path.replaceAll(/0{8}-[\d-]+/g, 'x')
      expect([route.name, (await send({ ...route, path }, {})).status]).toEqual([route.name, 401])
    }
  })
})

describe('a caller without the scope', () => {
  test.each(INVALID)('learns nothing from %s, on any route', async (_, sent) => {
    const key = await service.given.key({ scopes: [] })

    for (const route of routesFor(sent).filter(({ scope }) => scope !== 'any')) {
      const refused = await send(route, sent, key)
      expect([route.name, refused.status, refused.body.code]).toEqual([route.name, 403, 'insufficient_scope'])
      expect(refused.body.requiredScope).toBe(route.scope)
      expect(refused.body).not.toHaveProperty('errors')
    }
  })
})

describe('a body that is announced and not sent', () => {
  const withBody = () => guarded.filter(({ method }) => method !== 'GET')

  test.each([
    ['without a key', {}, 401],
    ['with a key nobody gave out', { 'x-api-key': 'inl_wrong' }, 401],
    ['with a session that is none', { cookie: 'inlet_session=nope', origin: 'http://x.example' }, 401],
  ])('delays no response %s, on any route', async (_, headers, status) => {
    for (const route of withBody()) {
      const outcome = await announce(route, headers)
      expect([route.name, outcome]).toEqual([route.name, status])
    }
  })

  test('delays no response to a key without the scope', async () => {
    const key = await service.given.key({ scopes: [] })
    for (const route of withBody().filter(({ scope }) => scope !== 'any')) {
      expect([route.name, await announce(route, { 'x-api-key': key })]).toEqual([route.name, 403])
    }
  })

  test('delays no response at /mcp, at the receiver and at unknown URLs', async () => {
    const address = (path: string) => ({ method: 'POST', path })
    expect(await announce(address('/mcp'), {})).toBe(401)
    expect(await announce(address('/mcp'), { authorization: 'Bearer inl_wrong' })).toBe(401)
    const foreign = { 'x-api-key': service.adminKey, origin: 'http://x.example' }
    expect(await announce(address('/mcp'), foreign)).toBe(403)
    expect(await announce(address('/api/analytics/webhook'), {})).toBe(401)
    expect(await announce(address('/api/nope'), {})).toBe(404)
  })

  test('bypasses no check: a caller who sends it later is rejected as well', async () => {
    const refused = await service.post('/api/tasks', { title: 'A' }, { key: null })
    expect([refused.status, refused.body.code]).toEqual([401, 'missing_credentials'])
  })

  /** Announces a body, and waits for the status without sending it. */
  function announce({ method, path }: Pick<Route, 'method' | 'path'>, headers: Record<string, string>) {
    const { hostname, port } = new URL(service.url)
    const sent = request({
      hostname,
      port,
      method,
      path,
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': 1_000_000, ...headers },
    })
    sent.flushHeaders()
    return new Promise<number | undefined>((resolve, reject) => {
      sent.on('error', reject)
      sent.on('response', ({ statusCode }) => {
        resolve(statusCode)
        sent
          .off('error', reject)
          .on('error', () => {})
          .destroy()
      })
    })
  }
})

describe('a key', () => {
  test.each(['', ' ', 'null', 'undefined', "' or 1=1 --", 'x'.repeat(4000), 'inl_\u00e4\u00ff', 'a, b'])(
    'that does not exist is rejected: %j',
    async (key) => {
      const refused = await service.get('/api/me', { key })

      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe('ApiKey')
      expect(refused.body.detail).not.toContain(key.trim() || 'inl_')
    },
  )

  test('that has expired gets a specific error, and a revoked one does not', async () => {
    const past = new Date(Date.now() - 1000)
    const expired = await service.given.key({ expiresAt: past })
    const revoked = await service.given.key({ revokedAt: past, expiresAt: past })

    expect((await service.get('/api/me', { key: expired })).body.code).toBe('expired_credentials')
    expect((await service.get('/api/me', { key: revoked })).body.code).toBe('invalid_credentials')
  })

  test('has access by its scopes, and with admin to everything', async () => {
    const reader = await service.given.key({ scopes: ['tasks:read'] })
    const writer = await service.given.key({ scopes: ['tasks:write'] })
    const admin = await service.given.key({ scopes: ['admin'] })

    expect((await service.get('/api/tasks', { key: reader })).status).toBe(200)
    expect((await service.post('/api/tasks', { title: 'A' }, { key: reader })).status).toBe(403)
    expect((await service.get('/api/tasks', { key: writer })).status).toBe(403)
    expect((await service.post('/api/tasks', { title: 'A' }, { key: writer })).status).toBe(201)
    expect((await service.get('/api/tasks', { key: admin })).status).toBe(200)
    expect((await service.get('/api/me', { key: reader })).body.scopes).toEqual(['tasks:read'])
  })
})
