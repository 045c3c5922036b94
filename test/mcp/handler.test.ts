import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallOptions, startApp, type TestApp } from '../support/app.ts'
import { CLIENTS } from '../support/mcp-clients.ts'
import { sendRaw } from '../support/raw.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const ACCEPT = { accept: 'application/json, text/event-stream' }

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { PUBLIC_URL: 'https://inlet.example.com' } })
})
afterAll(() => service.close())

const post = (body: unknown, { headers, ...options }: CallOptions = {}, to = service) =>
  to.post('/mcp', body, { ...options, headers: { ...ACCEPT, ...headers } })

/** fetch sets Host itself. */
const ping = (to: TestApp, host: string) =>
  sendRaw(to.url, {
    method: 'POST',
    path: '/mcp',
    headers: { host, 'content-type': 'application/json', 'x-api-key': to.adminKey, ...ACCEPT },
    body: JSON.stringify(PING),
  })

describe('/mcp', () => {
  test('accepts the key in X-API-Key or as a Bearer token', async () => {
    const bearer = { key: null, headers: { authorization: `bearer ${service.adminKey}` } }

    expect((await post(PING)).status).toBe(200)
    expect((await post(PING, bearer)).status).toBe(200)
    const client = await CLIENTS['v1 client'](service.url, { authorization: `Bearer ${service.adminKey}` })
    expect((await client.listTools()).tools).toHaveLength(10)
    await client.close()
  })

  test.each([
    ['no key', { key: null }, 'missing_credentials'],
    ['a wrong key', { key: 'inl_wrong' }, 'invalid_credentials'],
    ['a wrong Bearer', { key: null, headers: { authorization: 'Bearer wrong' } }, 'invalid_credentials'],
    ['another scheme', { key: null, headers: { authorization: 'Basic eDp5' } }, 'missing_credentials'],
    ['a cookie', { key: null, headers: { cookie: 'inlet_session=x' } }, 'missing_credentials'],
  ])(
    'returns 401 to %s, and never with Bearer, which would start an OAuth flow',
    async (_, options, code) => {
      const refused = await post('{"broken', options)

      expect(refused).toMatchObject({ status: 401, body: { code } })
      expect(refused.headers.get('www-authenticate')).toBe('ApiKey')
    },
  )

  test.each(['GET', 'DELETE', 'PUT'])('returns 405 to %s: there are no sessions', async (method) => {
    const refused = await service.call(method, '/mcp', { headers: ACCEPT })

    expect(refused).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
    expect(refused.headers.get('allow')).toBe('POST')
  })

  test.each(['http://localhost:6274', 'http://127.0.0.1', 'https://[::1]:8080', 'https://inlet.example.com'])(
    'accepts requests from a page on this machine or on PUBLIC_URL: %s',
    async (origin) => {
      expect((await post(PING, { headers: { origin } })).status).toBe(200)
    },
  )

  test.each([
    'https://evil.example',
    'http://inlet.example.com',
    'https://inlet.example.com:8443',
    'https://inlet.example.com.evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'null',
    'file://',
  ])('rejects requests from any other origin: %s', async (origin) => {
    const refused = await post('{"broken', { headers: { origin } })

    expect(refused).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } })
  })

  test('accepts its own names, on any port', async () => {
    expect((await ping(service, 'inlet.example.com')).status).toBe(200)
    expect((await ping(service, 'localhost:1')).status).toBe(200)
  })

  test.each([
    'evil.example',
    'notinlet.example.com',
    'evil-localhost',
    'evil.localhost',
    'x127.0.0.1',
    'inlet.example.com.evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'inlet.example.co',
  ])('rejects a host name that is only similar: %s', async (host) => {
    expect(await ping(service, host)).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } })
    expect(await ping(service, `${host}:443`)).toMatchObject({ status: 403 })
  })

  test('accepts any host name when it listens on all interfaces and no name is configured', async () => {
    const anywhere = await startApp({ env: { HOST: '0.0.0.0' }, connectionString: service.connectionString })
    try {
      expect((await ping(anywhere, 'inlet.lan')).status).toBe(200)
    } finally {
      await anywhere.close()
    }
  })

  test.each([
    ['no message', {}],
    ['an empty batch', []],
    ['a number', 5],
    ['a message of no version', { id: 1, method: 'ping' }],
    ['an oversized batch', Array.from({ length: 101 }, (_, id) => ({ ...PING, id }))],
    ['a batch with a stranger in it', [PING, 5]],
  ])('rejects %s', async (_, body) => {
    const refused = await post(JSON.stringify(body))

    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
  })

  test('rejects a body that is not JSON, not text, or larger than 1 MiB', async () => {
    expect(await post('{"broken')).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
    expect(await post('x', { headers: { 'content-type': 'text/plain' } })).toMatchObject({ status: 415 })
    const batch = Array.from({ length: 40_000 }, (_, id) => ({ ...PING, id }))
    expect(await post(batch)).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
  })

  test('returns no internals when it fails', async () => {
    await service.query('alter table rules rename to rules_away')
    try {
      const call = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'get_rules', arguments: {} },
      }
      const broken = (await post(call)).body
      expect(broken).toContain('internal_error')
      expect(broken).not.toMatch(/rules_away|relation|select/i)
    } finally {
      await service.query('alter table rules_away rename to rules')
    }
  })

  test('does not delay shutdown while a client listens', async () => {
    const closing = await startApp({ connectionString: service.connectionString })
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const response = await fetch(`${closing.url}/mcp`, {
      method: 'POST',
      headers: {
        ...ACCEPT,
        'x-api-key': closing.adminKey,
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { _meta: meta, notifications: { toolsListChanged: true } },
      }),
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const ended = response.text()

    const began = Date.now()
    await Promise.all([closing.close(), ended.catch(() => {})])

    expect(Date.now() - began).toBeLessThan(5_000)
  })
})
