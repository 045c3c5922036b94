import { afterEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { person, signInAs } from '../support/people.ts'

let service: TestApp
afterEach(() => service.close())

const requestWithUnknownKey = () => service.get('/api/me', { key: 'inl_00000000_wrong' })

describe('requests of a key', () => {
  test('are counted in the headers and rejected over the limit, separately for each key', async () => {
    service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '3' } })
    const other = await service.given.key()

    const responses = [
      await service.get('/api/me'),
      await service.get('/api/me'),
      await service.get('/api/me'),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(responses[0]?.headers.get('ratelimit-policy')).toBe('"key";q=3;w=60')
    expect(responses.map(({ headers }) => headers.get('ratelimit')?.split(';')[1])).toEqual([
      'r=2',
      'r=1',
      'r=0',
    ])

    const refused = await service.get('/api/me')
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await service.get('/api/me', { key: other })).status).toBe(200)
  })

  test('are counted together with those of its sessions, signing in included', async () => {
    service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '3' } })
    const session = await service.post('/api/sessions', { key: service.adminKey }, { key: null })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await service.get('/api/me', { key: null, headers: { cookie } })).status).toBe(200)
    expect((await service.get('/api/me')).status).toBe(200)
    expect((await service.get('/api/me', { key: null, headers: { cookie } })).status).toBe(429)
    expect((await service.post('/api/sessions', { key: service.adminKey }, { key: null })).status).toBe(429)
  })

  test('of a person are counted together, whichever the session, signing in included', async () => {
    service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '3' } })
    const ada = await person(service)
    const again = await signInAs(service, ada.username)
    expect(again.response.status).toBe(201)
    for (const { with: options } of [ada, again]) {
      expect((await service.get('/api/me', options)).status).toBe(200)
    }
    expect((await service.get('/api/me', ada.with)).status).toBe(429)
    expect((await signInAs(service, ada.username)).response.status).toBe(429)
    expect((await service.get('/api/me')).status).toBe(200)
  })

  test('count once for each message in them, on /mcp', async () => {
    service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '5' } })
    const batch = (size: number) =>
      service.post(
        '/mcp',
        Array.from({ length: size }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
        { headers: { accept: 'application/json, text/event-stream' } },
      )

    const taken = await batch(3)
    expect([taken.status, taken.headers.get('ratelimit')?.split(';')[1]]).toEqual([200, 'r=2'])
    expect((await batch(3)).status).toBe(429)
    expect((await service.get('/api/me')).status).toBe(429)
  })

  test('are not counted when the limit is 0', async () => {
    service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
    expect((await service.get('/api/me')).headers.get('ratelimit')).toBeNull()
  })
})

describe('invalid credentials from one address', () => {
  test('are rejected over the limit, while a valid key is always accepted', async () => {
    service = await startApp({ env: { RATE_LIMIT_FAILURES_PER_MINUTE: '2' } })

    expect([(await requestWithUnknownKey()).status, (await requestWithUnknownKey()).status]).toEqual([
      401, 401,
    ])
    const refused = await requestWithUnknownKey()
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect((await service.get('/api/me')).status).toBe(200)
    const signIn = await service.post('/api/sessions', { key: 'wrong' }, { key: null })
    expect(signIn.status).toBe(429)
  })

  test('do not count when they are missing or merely expired', async () => {
    service = await startApp({ env: { RATE_LIMIT_FAILURES_PER_MINUTE: '1' } })
    const expired = await service.given.key({ expiresAt: new Date(0) })
    for (const key of [null, expired, null, expired]) {
      expect((await service.get('/api/me', { key })).status).toBe(401)
    }
    expect((await requestWithUnknownKey()).status).toBe(401)
  })
})
