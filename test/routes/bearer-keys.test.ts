import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

describe('an API key as Authorization: Bearer', () => {
  test.each(['/api/me', '/api/tasks', '/metrics'])('is taken by %s, as in X-API-Key', async (path) => {
    const get = (headers: Record<string, string>) => service.call('GET', path, { key: null, headers })

    expect((await get(bearer(service.adminKey))).status).toBe(200)
    expect((await get({ authorization: `bearer  ${service.adminKey} ` })).status).toBe(200)
    expect((await get(bearer('inl_wrong'))).status).toBe(401)
    expect((await get({ authorization: `Basic ${service.adminKey}` })).status).toBe(401)
  })

  test('has its own scopes and no more', async () => {
    const { body } = await service.post('/api/keys', { name: 'prometheus', scopes: ['metrics:read'] })
    const get = (path: string) => service.call('GET', path, { key: null, headers: bearer(body.key) })

    expect((await get('/metrics')).status).toBe(200)
    expect((await get('/api/tasks')).status).toBe(403)
  })

  test('is ignored beside another X-API-Key, and beside a session: a proxy may add its own token', async () => {
    const { headers } = await service.call('POST', '/api/sessions', {
      key: null,
      body: { key: service.adminKey },
    })
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
    const foreign = bearer('a-token-of-a-proxy')

    const withKey = await service.call('GET', '/api/me', { headers: foreign })
    const withSession = await service.call('GET', '/api/me', { key: null, headers: { ...foreign, cookie } })
    expect([withKey.status, withSession.status]).toEqual([200, 200])
  })
})
