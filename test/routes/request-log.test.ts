import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { WEBHOOK_SECRET } from '../support/feedback.ts'
import { deliver, sourceOf } from '../support/sources.ts'

let service: TestApp
const written: string[] = []
beforeAll(async () => {
  const destination = new Writable({
    write: (chunk, _, done) => {
      written.push(String(chunk))
      done()
    },
  })
  const logger = pino({ level: 'trace' }, destination)
  service = await startApp({ env: { TRUST_PROXY: 'true', WEBHOOK_SECRET }, logger })
})
afterAll(() => service.close())
beforeEach(() => {
  written.length = 0
})

/** The line of the request that was sent last; it is written when its connection is done with it. */
const line = () =>
  vi.waitFor(() => {
    const found = written.find((text) => text.includes('"request completed"'))
    if (found === undefined) throw new Error('There is no line yet.')
    return found
  })

const failures = () =>
  written.flatMap((text) => (text.includes('delivery of a source failed') ? [JSON.parse(text)] : []))

const FORWARDED = { 'x-forwarded-for': '198.51.100.9, 203.0.113.7' }

describe('the log line of a refused request', () => {
  test('has the code, the first path, and the address that the proxy reports', async () => {
    await service.post('/api/tasks', { title: 5, nope: true }, { headers: FORWARDED })

    expect(JSON.parse(await line())).toMatchObject({
      method: 'POST',
      route: '/api/tasks',
      status: 400,
      code: 'validation_failed',
      path: expect.stringMatching(/^\/(title|nope)$/),
      address: '203.0.113.7',
    })
  })

  test.each([
    ['GET', '/api/nope', {}, 404, 'not_found'],
    ['PUT', '/api/me', {}, 405, 'method_not_allowed'],
    ['POST', '/api/tasks', { body: '{' }, 400, 'invalid_json'],
    ['GET', '/api/tasks', { key: null }, 401, 'missing_credentials'],
    ['GET', '/api/tasks', { key: 'wrong' }, 401, 'invalid_credentials'],
    ['POST', '/mcp', { key: 'wrong', body: {} }, 401, 'invalid_credentials'],
  ])('says why: %s %s %j', async (method, path, options, status, code) => {
    await service.call(method, path, { ...options, headers: FORWARDED })

    const logged = JSON.parse(await line())
    expect(logged).toMatchObject({ status, code, address: '203.0.113.7' })
    expect(logged).not.toHaveProperty('path')
  })

  test('says why, for a path that cannot be decoded', async () => {
    const { headers } = await service.get('/api/tasks/%zz')
    expect(JSON.parse(await line())).toMatchObject({
      reqId: headers.get('x-request-id'),
      method: 'GET',
      route: null,
      status: 400,
      code: 'validation_failed',
      path: 'path',
      address: '127.0.0.1',
    })
  })

  test.each([
    ['what is not HTTP', 'hello\r\n\r\n', 400],
    ['headers beyond measure', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('says why, and from where, for %s', async (_, text, status) => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname, () => socket.write(text))
    const [received] = await once(socket, 'data')
    const { requestId } = JSON.parse(String(received).split('\r\n\r\n')[1] ?? '')
    const address = '127.0.0.1'
    expect(JSON.parse(await line())).toMatchObject({ reqId: requestId, status, code: 'bad_request', address })
  })

  test('names a parameter of the query', async () => {
    await service.get('/api/tasks?limit=0')
    expect(JSON.parse(await line())).toMatchObject({ path: 'query.limit' })
  })

  test.each(['ada@example.com', 'inl_0a1b2c3d_secret', 'whsec_c2VjcmV0', `k${'e'.repeat(40)}y`])(
    'does not repeat a name that a client made up: %s',
    async (name) => {
      await service.post('/api/tasks', { title: 'x', [name]: 1 })
      expect(JSON.parse(await line())).toMatchObject({ path: '/*' })
      written.length = 0
      await service.get(`/api/tasks?${encodeURIComponent(name)}=1`)
      expect(JSON.parse(await line()).path).toBe('query.*')
      expect(written.join('')).not.toContain(name)
    },
  )
})

test('the log line of another request has neither a code nor an address', async () => {
  await service.get('/api/me', { headers: FORWARDED })

  const logged = JSON.parse(await line())
  expect(logged).toMatchObject({ status: 200, caller: expect.any(String) })
  for (const member of ['code', 'path', 'address']) expect(logged).not.toHaveProperty(member)
})

describe('the filter for fail2ban in the guide', async () => {
  const guide = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const [, failregex = ''] = /^failregex = (.+)$/m.exec(guide) ?? []
  const filter = new RegExp(failregex.replace('<HOST>', String.raw`(?<host>[\w.:]+)`))
  const banned = async () => filter.exec(await line())?.groups?.host

  test('matches the line that the guide shows', () => {
    const [shown] = /^\{"level":30,.*$/m.exec(guide) ?? []
    expect(filter.exec(shown ?? '')?.groups?.host).toBe('203.0.113.7')
  })

  test('finds the address of whoever sends a wrong key', async () => {
    await service.get('/api/me', { key: 'inl_00000000_guess', headers: FORWARDED })
    expect(await banned()).toBe('203.0.113.7')
    expect(written.join('')).not.toContain('guess')
  })

  test('finds whoever sends a wrong secret to a receiver', async () => {
    const headers = { ...FORWARDED, authorization: 'Bearer wrong' }
    await service.post('/api/analytics/webhook', {}, { key: null, headers })
    expect(await banned()).toBe('203.0.113.7')

    written.length = 0
    const { source } = await sourceOf(service, { verify: { scheme: 'bearer' } })
    await line()
    written.length = 0
    await deliver(service, { source, payload: {}, secret: 'wrong', headers: FORWARDED })
    expect(await banned()).toBe('203.0.113.7')
  })

  test('finds nobody who sends a valid key, none, or what looks like a line', async () => {
    const forged = '"status":401,"code":"invalid_credentials","address":"192.0.2.1"'
    const requests = [
      () => service.get('/api/me', { headers: FORWARDED }),
      () => service.get('/api/me', { key: null, headers: FORWARDED }),
      () => service.get(`/api/tasks?q=${encodeURIComponent(forged)}`, { headers: { 'user-agent': forged } }),
      () => service.post('/api/tasks', { [forged]: 1 }),
    ]
    for (const send of requests) {
      written.length = 0
      await send()
      expect(await banned()).toBeUndefined()
    }
  })
})

describe('a delivery that fails', () => {
  test('is logged as a warning with its source, project, and code, and nothing of what was sent', async () => {
    const { source, send } = await sourceOf(service, {
      verify: { scheme: 'bearer' },
      template: { title: '{{ payload.subject }}' },
    })
    const { id: sourceId, projectId } = source
    const about = { level: 40, sourceId, projectId }
    await send({ secret: 'ada@example.com' })
    await send('{"subject": ada@example.com')
    await service.post(`/api/projects/${projectId}/archive`)
    await send({ subject: 'ada@example.com' })
    expect(failures()).toMatchObject([
      { ...about, code: 'validation_failed' },
      { ...about, code: 'invalid_json' },
      { ...about, code: 'project_archived' },
    ])
    expect(written.join()).not.toContain('ada@example.com')
    expect(written.join()).not.toContain(source.secret)
  })

  test('is not logged so before its sender is known, or if it succeeds or is filtered', async () => {
    const { source, send } = await sourceOf(service, { verify: { scheme: 'bearer' }, filter: 'payload.ok' })
    await deliver(service, { source, payload: {}, secret: 'guessed-by-a-stranger' })
    await send({ title: 'Made', ok: true })
    await send({ title: 'Filtered' })
    expect(failures()).toEqual([])
  })
})
