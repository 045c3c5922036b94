import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SESSION_IDLE_MS } from '../../src/services/access.ts'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { signIn as signInTo } from '../support/sign-in.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const signIn = (key: string, headers?: Record<string, string>) => signInTo(service, key, headers)

describe('signing in', () => {
  test('returns a cookie that scripts and other sites cannot use, with the scopes of the key', async () => {
    const key = await service.given.key({ name: 'Ada', scopes: ['tasks:read'] })
    const session = await signIn(key)

    expect(session.response.status).toBe(201)
    expect(session.setCookie).toMatch(/^inlet_session=[\w-]{43}; .*Path=\/; HttpOnly; SameSite=Strict$/)
    expect(session.setCookie).not.toContain('Secure')
    expect(session.response.body).toMatchObject({ name: 'Ada', scopes: ['tasks:read'], isCurrent: true })
    const me = (await service.get('/api/me', session.with)).body
    expect(me).toMatchObject({
      type: 'session',
      id: session.response.body.id,
      keyId: session.response.body.keyId,
      name: 'Ada',
      scopes: ['tasks:read'],
    })
  })

  test('with an unknown key is rejected', async () => {
    const { response } = await signIn('inl_00000000_wrong')
    expect([response.status, response.body.code]).toEqual([401, 'invalid_credentials'])
  })

  test('from another site is rejected', async () => {
    const { response } = await signIn(service.adminKey, { origin: 'https://evil.example' })
    expect([response.status, response.body.code]).toEqual([403, 'origin_not_allowed'])
  })

  test('behind https marks the cookie as Secure', async () => {
    const secure = await startApp({ env: { PUBLIC_URL: 'https://inlet.example' } })
    const response = await secure.post('/api/sessions', { key: secure.adminKey }, { key: null })
    expect(response.headers.get('set-cookie')).toContain('Secure')
    await secure.close()
  })
})

describe('a session', () => {
  test('creates dashboard tasks, whose descriptions it may change', async () => {
    const session = await signIn(service.adminKey)
    const made = await service.post('/api/tasks', { title: 'By hand', description: 'a' }, session.with)

    expect(made.body).toMatchObject({ source: 'dashboard', descriptionReadOnly: false })
    expect(made.body.createdBy.type).toBe('session')
    const changed = await service.patch(`/api/tasks/${made.body.id}`, { description: 'b' }, session.with)
    expect(changed.body.description).toBe('b')
  })

  test('cannot change the description of a task from the API', async () => {
    const session = await signIn(service.adminKey)
    const task = (await service.post('/api/tasks', { title: 'x', description: 'as it came' })).body

    const response = await service.patch(`/api/tasks/${task.id}`, { description: 'changed' }, session.with)
    expect([response.status, response.body.code]).toEqual([403, 'description_read_only'])
    expect((await service.patch(`/api/tasks/${task.id}`, { notes: 'mine' }, session.with)).status).toBe(200)
  })

  test.each([
    ['no Origin', {}],
    ['a foreign Origin', { origin: 'https://evil.example' }],
    ['an opaque Origin', { origin: 'null' }],
  ])('changes nothing with %s', async (_, headers) => {
    const { cookie } = await signIn(service.adminKey)
    const response = await service.post(
      '/api/tasks',
      { title: 'x' },
      { key: null, headers: { cookie, ...headers } },
    )
    expect([response.status, response.body.code]).toEqual([403, 'origin_not_allowed'])
    // Reading is harmless: another site cannot read the response.
    expect((await service.get('/api/tasks', { key: null, headers: { cookie, ...headers } })).status).toBe(200)
  })

  test.each([
    ['POST', '/api/tasks'],
    ['PUT', `/api/projects/${UNKNOWN_ID}/codehost`],
    ['PATCH', `/api/tasks/${UNKNOWN_ID}`],
    ['DELETE', `/api/tasks/${UNKNOWN_ID}`],
  ])('needs its own Origin for %s, with its port', async (method, path) => {
    const { cookie } = await signIn(service.adminKey)
    const { hostname, port } = new URL(service.url)
    const foreign = ['https://evil.example', `http://${hostname}:${Number(port) + 1}`, `http://${hostname}`]
    for (const headers of [{}, ...foreign.map((origin) => ({ origin }))]) {
      const refused = await service.call(method, path, { key: null, headers: { cookie, ...headers } })
      expect(codeOf(refused)).toEqual([403, 'origin_not_allowed'])
    }
    const own = { key: null, headers: { cookie, origin: service.url } }
    expect((await service.call(method, path, own)).status).not.toBe(403)
  })

  test.each([
    ['expired', "expires_at = now() - interval '1 s'", 'expired_credentials'],
    ['was revoked', 'revoked_at = now()', 'invalid_credentials'],
  ])('ends with its key, even if it is still stored: one that %s', async (_, change, code) => {
    const key = await service.given.key()
    const [used, unused] = [await signIn(key), await signIn(key)]
    const stream = await service.service.access.callerBySession(used.cookie.split('=')[1] ?? '')
    await service.query(`update api_keys set ${change} where id = $1`, [used.response.body.keyId])

    expect(codeOf(await service.get('/api/me', unused.with))).toEqual([401, code])
    expect(await service.service.access.admissionOf(stream)).toBe('ended')
    service.service.access.forget()
    expect(codeOf(await service.get('/api/me', used.with))).toEqual([401, code])
  })

  test('ends after twelve hours without a request', async () => {
    const session = await signIn(service.adminKey)
    await service.query("update sessions set last_seen_at = now() - $1 * interval '1 ms' where id = $2", [
      SESSION_IDLE_MS + 1000,
      session.response.body.id,
    ])
    expect((await service.get('/api/me', session.with)).body.code).toBe('invalid_credentials')
  })

  test('never shows an end later than that of its key', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000)
    const session = await signIn(await service.given.key({ scopes: ['tasks:read'], expiresAt }))
    const [listed] = (await service.get('/api/sessions', session.with)).body.data
    const me = (await service.get('/api/me', session.with)).body
    const shown = [session.response.body.expiresAt, listed.expiresAt, me.expiresAt]
    expect(shown).toEqual([expiresAt, expiresAt, expiresAt].map((time) => time.toISOString()))

    const lasting = await signIn(await service.given.key())
    expect(Date.parse(lasting.response.body.expiresAt) - Date.now()).toBeGreaterThan(SESSION_IDLE_MS - 60_000)
  })

  test('stays open while it is used', async () => {
    const session = await signIn(service.adminKey)
    await service.query("update sessions set last_seen_at = now() - interval '11 hours' where id = $1", [
      session.response.body.id,
    ])
    await service.get('/api/me', session.with)
    await service.service.access.flushLastUsed()
    const [row] = await service.query('select last_seen_at from sessions where id = $1', [
      session.response.body.id,
    ])
    expect(row.last_seen_at.getTime()).toBeGreaterThan(Date.now() - 60_000)
  })
})

describe('ending sessions', () => {
  test('a caller lists and ends those of its own key, an administrator all', async () => {
    const key = await service.given.key({ scopes: ['tasks:read'] })
    const [mine, also] = [await signIn(key), await signIn(key)]
    const admin = await signIn(service.adminKey)

    const listed = (await service.get('/api/sessions', mine.with)).body.data
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([mine.response.body.id, also.response.body.id])
    expect(listed.map(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toEqual([true, false])
    expect((await service.delete(`/api/sessions/${admin.response.body.id}`, mine.with)).status).toBe(404)
    expect((await service.delete('/api/sessions', mine.with)).status).toBe(403)

    expect((await service.delete(`/api/sessions/${also.response.body.id}`, mine.with)).status).toBe(204)
    expect((await service.get('/api/me', also.with)).status).toBe(401)
    const out = await service.delete(`/api/sessions/${mine.response.body.id}`, mine.with)
    expect(out.headers.get('set-cookie')).toMatch(/^inlet_session=;/)

    expect((await service.delete('/api/sessions')).status).toBe(204)
    expect((await service.get('/api/me', admin.with)).status).toBe(401)
  })
})
