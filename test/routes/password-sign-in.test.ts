import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { passTime } from '../support/database-clock.ts'
import { accept, PASSWORD, person, signInAs } from '../support/people.ts'
import { signIn as signInWithKey } from '../support/sign-in.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let service: TestApp
beforeAll(async () => {
  service = await startApp({ hasDatabaseClock: true })
})
afterAll(() => service.close())

const post = (body: object, app = service) => app.post('/api/sessions', body, { key: null })

describe('signing in with a password', () => {
  test('opens a session of the person, also with the username in capitals and another composition', async () => {
    const password = 'caf\u00e9 con leche y pan'
    const { username, id } = await person(service, { password, role: 'viewer' })
    const response = await post({ username: username.toUpperCase(), password: password.normalize('NFD') })
    expect([response.status, response.body]).toMatchObject([
      201,
      { userId: id, keyId: null, scopes: ['tasks:read', 'rules:read'], projectIds: null, isCurrent: true },
    ])
    expect(response.headers.get('set-cookie')).toMatch(
      /^inlet_session=[\w-]{43}; .*HttpOnly; SameSite=Strict$/,
    )
  })

  test('with a wrong password or an unknown name has the same response', async () => {
    const { username } = await person(service)
    const wrong = await post({ username, password: 'wrong' })
    const unknown = await post({ username: 'nobody', password: 'wrong' })
    expect(codeOf(wrong)).toEqual([401, 'invalid_credentials'])
    expect({ ...unknown.body, requestId: '' }).toEqual({ ...wrong.body, requestId: '' })
  })

  test.each([
    ['nothing', {}, '/key'],
    ['no password', { username: 'ada' }, '/password'],
    ['no username', { password: PASSWORD }, '/username'],
    ['a key as well', { username: 'ada', password: PASSWORD, key: 'k' }, '/key'],
  ])('with %s is refused', async (_, body, path) => {
    const response = await post(body)
    expect([...codeOf(response), response.body.errors[0].path]).toEqual([400, 'validation_failed', path])
  })

  test('from another site is refused', async () => {
    const { username } = await person(service)
    const headers = { origin: 'https://evil.example' }
    const response = await service.post(
      '/api/sessions',
      { username, password: PASSWORD },
      { key: null, headers },
    )
    expect(codeOf(response)).toEqual([403, 'origin_not_allowed'])
  })
})

describe('a password of 10 MB', () => {
  test.each([
    ['signs nobody in', 'POST', '/api/sessions'],
    ['is not set', 'PUT', '/api/me/password'],
  ])('%s, and is not read', async (_, method, path) => {
    const { username, with: options } = await person(service)
    const password = 'x'.repeat(10_000_000)
    const body = method === 'PUT' ? { password } : { username, password }
    const response = await service.call(method, path, {
      body,
      ...(method === 'PUT' ? options : { key: null }),
    })
    expect(codeOf(response)).toEqual([413, 'body_too_large'])
  })
})

describe('the ways to sign in', () => {
  test('are told to anybody', async () => {
    const response = await service.get('/api/sign-in', { key: null })
    expect([response.status, response.body]).toEqual([
      200,
      { password: true, passkeys: false, keys: 'all', providers: [], hasPeople: expect.any(Boolean) },
    ])
  })

  test('are limited by the environment, and an admin key stays one', async () => {
    const app = await startApp({ env: { PASSWORD_SIGN_IN: 'off', KEY_SIGN_IN: 'admin' } })
    const { body } = await app.get('/api/sign-in', { key: null })
    expect(body).toEqual({ password: false, passkeys: false, keys: 'admin', providers: [], hasPeople: false })
    expect(codeOf(await app.post('/api/invites', { name: 'Ada', role: 'owner' }))).toEqual([
      400,
      'validation_failed',
    ])
    const refused = [
      await accept(app, { secret: 's', username: 'ada', password: PASSWORD }),
      await post({ username: 'ada', password: PASSWORD }, app),
    ]
    for (const response of refused) {
      expect([...codeOf(response), response.body.errors[0].path]).toEqual([
        400,
        'validation_failed',
        '/password',
      ])
    }
    const key = await app.given.key({ scopes: ['tasks:read'] })
    expect(codeOf(await post({ key }, app))).toEqual([403, 'insufficient_scope'])
    expect((await post({ key: app.adminKey }, app)).status).toBe(201)
    await app.close()
  })
})

test('a start with KEY_SIGN_IN=admin refuses sessions that other keys opened before', async () => {
  const app = await startApp()
  const key = await app.given.key({ scopes: ['tasks:read'] })
  const [ofOther, ofAdmin] = [await signInWithKey(app, key), await signInWithKey(app, app.adminKey)]
  const ada = await person(app)
  const { connectionString } = app
  const restarted = await startApp({ connectionString, env: { KEY_SIGN_IN: 'admin' } })
  const codes = []
  for (const { cookie } of [ofOther, ofAdmin, ada.with.headers]) {
    const response = await restarted.get('/api/me', { key: null, headers: { cookie } })
    codes.push([response.status, response.body.code])
  }
  expect(codes).toEqual([
    [401, 'invalid_credentials'],
    [200, undefined],
    [200, undefined],
  ])
  // The key itself is for the API.
  expect((await restarted.get('/api/tasks', { key })).status).toBe(200)
  await restarted.close()
  await app.close()
})

describe('a session of a person', () => {
  test('ends 7 days after its last use and after 30 days, by the clock of the database', async () => {
    const ada = await person(service)
    const idle = await signInAs(service, ada.username)
    for (let day = 0; day < 29; day += 6) {
      await passTime(service, 6 * DAY_MS)
      service.service.access.forget()
      if (day < 24) expect((await service.get('/api/me', ada.with)).status).toBe(200)
      await service.query('update sessions set last_seen_at = test_clock.clock_timestamp() where id = $1', [
        ada.sessionId,
      ])
      if (day === 6)
        expect(codeOf(await service.get('/api/me', idle.with))).toEqual([401, 'invalid_credentials'])
    }
    expect(codeOf(await service.get('/api/me', ada.with))).toEqual([401, 'invalid_credentials'])
    await service.service.cleanup.cleanUp()
    const left = await service.query('select id from sessions where user_id = $1', [ada.id])
    expect(left).toEqual([])
  })

  test('was last used when the clock of the database says so, whatever that of the instance', async () => {
    const ada = await person(service)
    await passTime(service, 4 * DAY_MS)
    service.service.access.forget()
    expect((await service.get('/api/me', ada.with)).status).toBe(200)
    await service.service.access.flushLastUsed()
    await passTime(service, 4 * DAY_MS)
    service.service.access.forget()
    expect((await service.get('/api/me', ada.with)).status).toBe(200)
  })

  test('is listed and ended by its person and by administrators, and by nobody else', async () => {
    const [ada, bob] = [await person(service), await person(service)]
    const other = await signInAs(service, ada.username)
    const { data } = (await service.get('/api/sessions', ada.with)).body
    expect(data).toMatchObject([
      { id: ada.sessionId, userId: ada.id, isCurrent: true },
      { id: other.sessionId, userId: ada.id, isCurrent: false },
    ])
    const all = (await service.get('/api/sessions?limit=200')).body.data.map(({ id }: { id: string }) => id)
    expect(all).toEqual(expect.arrayContaining([ada.sessionId, bob.sessionId]))
    const end = (id: string, options: object) => service.delete(`/api/sessions/${id}`, options)
    expect(codeOf(await end(ada.sessionId, bob.with))).toEqual([404, 'session_not_found'])
    const project = await service.given.project()
    const bound = await service.given.key({ projectId: project.id })
    expect(codeOf(await end(ada.sessionId, { key: bound }))).toEqual([404, 'session_not_found'])
    expect((await end(other.sessionId, ada.with)).status).toBe(204)
    expect((await end(ada.sessionId, {})).status).toBe(204)
    expect((await service.get('/api/me', ada.with)).status).toBe(401)
  })
})

describe('the account', () => {
  test('changes its name, and its password within ten minutes of the sign-in', async () => {
    const ada = await person(service)
    const other = await signInAs(service, ada.username)
    const renamed = await service.patch('/api/me', { name: 'Ada L.', email: 'ada@example.com' }, ada.with)
    expect([renamed.status, renamed.body]).toMatchObject([200, { name: 'Ada L.', email: 'ada@example.com' }])

    const change = (options: object) =>
      service.put('/api/me/password', { password: 'the new password' }, options)
    await passTime(service, 10 * MINUTE_MS)
    service.service.access.forget()
    expect(codeOf(await change(ada.with))).toEqual([403, 'sign_in_again'])
    const again = await signInAs(service, ada.username)
    expect((await change(again.with)).status).toBe(204)
    expect((await service.get('/api/me', again.with)).status).toBe(200)
    for (const { with: options } of [ada, other])
      expect((await service.get('/api/me', options)).status).toBe(401)
    expect((await signInAs(service, ada.username)).response.status).toBe(401)
    expect((await signInAs(service, ada.username, 'the new password')).response.status).toBe(201)
  })

  test('cannot be taken over by what began before the password was changed', async () => {
    const ada = await person(service)
    const [{ hash }] = await service.query('select hash from passwords where user_id = $1', [ada.id])
    const token = ada.with.headers.cookie.replace('inlet_session=', '')
    const caller = await service.service.access.callerBySession(token)
    const again = await signInAs(service, ada.username)
    await service.put('/api/me/password', { password: 'the newest password' }, again.with)

    const { sessions, account } = service.service
    const opening = sessions.openOfUser({ id: ada.id, passwordHash: hash, userAgent: undefined })
    await expect(opening).rejects.toMatchObject({ code: 'invalid_credentials' })
    const setting = account.setPassword(caller, 'of the intruder')
    await expect(setting).rejects.toMatchObject({ code: 'invalid_credentials' })
    expect((await signInAs(service, ada.username, 'the newest password')).response.status).toBe(201)
    expect((await service.get('/api/me', again.with)).status).toBe(200)
  })

  test('is not changed with a key, or in a session of one', async () => {
    const session = await signInWithKey(service, service.adminKey)
    for (const options of [{}, session.with]) {
      expect(codeOf(await service.patch('/api/me', { name: 'x' }, options))).toEqual([403, 'person_required'])
      const password = await service.put('/api/me/password', { password: PASSWORD }, options)
      expect(codeOf(password)).toEqual([403, 'person_required'])
    }
  })
})
