import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { authenticator, type Deviation } from '../support/authenticator.ts'
import { passTime } from '../support/database-clock.ts'
import {
  addPasskey,
  beginSignIn,
  cookieIn,
  PUBLIC_URL,
  sendPasskey,
  signInWithPasskey,
} from '../support/passkeys.ts'
import { PASSWORD, person, signedIn } from '../support/people.ts'

const MINUTE_MS = 60_000
const REFUSED = [401, 'invalid_credentials']

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { PUBLIC_URL }, hasDatabaseClock: true })
})
afterAll(() => service.close())

/** A person with a passkey. */
async function withPasskey(app = service) {
  const somebody = await person(app)
  const { device, id: passkeyId } = await addPasskey(app, somebody)
  return { ...somebody, device, passkeyId }
}

describe('signing in with a passkey', () => {
  test('needs no username, and opens a session as a password does', async () => {
    const ada = await withPasskey()
    await passTime(service, 10 * MINUTE_MS)
    service.service.access.forget()
    const begun = await beginSignIn(service)
    expect([begun.status, begun.body]).toEqual([
      200,
      {
        challenge: expect.stringMatching(/^[\w-]{43}$/),
        rpId: 'inlet.example.com',
        timeout: 300_000,
        userVerification: 'required',
      },
    ])
    expect(begun.headers.get('set-cookie')).toMatch(
      /^inlet_passkey=[\w-]{43}; Max-Age=600; Path=\/api\/sessions; HttpOnly; Secure; SameSite=Strict$/,
    )
    const response = await signInWithPasskey(service, ada.device, { begun })
    expect([response.status, response.body]).toMatchObject([
      201,
      { userId: ada.id, keyId: null, name: ada.name, projectIds: null, isCurrent: true },
    ])
    const again = signedIn(service, { response, username: ada.username })
    const { data } = (await service.get('/api/me/passkeys', again.with)).body
    expect(data[0].lastUsedAt).not.toBeNull()
    // It counts as a recent sign-in.
    expect((await addPasskey(service, again)).response.status).toBe(201)
  })

  test.each<[string, Deviation]>([
    ['another site', { origin: 'https://evil.example' }],
    ['http', { origin: 'http://inlet.example.com' }],
    ['another port', { origin: 'https://inlet.example.com:8443' }],
    ['another host name', { rpId: 'example.com' }],
    ['another challenge', { challenge: 'x'.repeat(43) }],
    ['no user verification', { isUserVerified: false }],
    ['the ID of somebody else', { userHandle: 'x'.repeat(22) }],
  ])('with %s is refused', async (_, deviation) => {
    const { device } = await withPasskey()
    const refused = await signInWithPasskey(service, device, { deviation })
    expect(codeOf(refused)).toEqual(REFUSED)
    expect((await signInWithPasskey(service, device)).status).toBe(201)
  })

  test('says the same for an unknown passkey, a removed one, and one of a deactivated person', async () => {
    const [ada, bob] = [await withPasskey(), await withPasskey()]
    const unknown = authenticator(PUBLIC_URL)
    const begun = await service.post('/api/me/passkeys/challenge', undefined, ada.with)
    unknown.create(begun.body)
    expect((await service.delete(`/api/me/passkeys/${ada.passkeyId}`, ada.with)).status).toBe(204)
    const waiting = await beginSignIn(service)
    await service.patch(`/api/users/${bob.id}`, { isActive: false })
    const refused = [
      await signInWithPasskey(service, unknown),
      await signInWithPasskey(service, ada.device),
      await signInWithPasskey(service, bob.device, { begun: waiting }),
    ]
    expect(refused.map(codeOf)).toEqual(Array(3).fill(REFUSED))
    const [first, ...others] = refused.map(({ body }) => ({ ...body, requestId: '' }))
    for (const other of others) expect(other).toEqual(first)
  })

  test('is refused if the counter goes back, which is that of a copy', async () => {
    const { device } = await withPasskey()
    expect((await signInWithPasskey(service, device, { deviation: { counter: 7 } })).status).toBe(201)
    for (const counter of [7, 3, 0]) {
      expect(codeOf(await signInWithPasskey(service, device, { deviation: { counter } }))).toEqual(REFUSED)
    }
    expect((await signInWithPasskey(service, device, { deviation: { counter: 8 } })).status).toBe(201)
  })

  test('takes the same count once of two at once, and authenticators that do not count', async () => {
    const { device } = await withPasskey()
    const sign = (counter: number) => signInWithPasskey(service, device, { deviation: { counter } })
    const uncounted = await Promise.all([sign(0), sign(0)])
    expect(uncounted.map(({ status }) => status)).toEqual([201, 201])
    const twice = await Promise.all([sign(5), sign(5)])
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 401])
  })

  test('has its Origin checked, and other credentials beside it refused', async () => {
    const { device } = await withPasskey()
    const begun = await beginSignIn(service)
    const passkey = device.get(begun.body)
    const headers = { origin: 'https://evil.example', cookie: cookieIn(begun) }
    const foreign = await service.post('/api/sessions', { passkey }, { key: null, headers })
    expect(codeOf(foreign)).toEqual([403, 'origin_not_allowed'])
    for (const more of [{ key: 'k' }, { username: 'ada', password: PASSWORD }]) {
      const refused = await service.post('/api/sessions', { passkey, ...more }, { key: null })
      expect([...codeOf(refused), refused.body.errors[0].path]).toEqual([
        400,
        'validation_failed',
        '/passkey',
      ])
    }
  })
})

describe('a challenge', () => {
  test('opens one session, also if it is sent twenty times at once', async () => {
    const { device } = await withPasskey()
    const begun = await beginSignIn(service)
    const passkey = device.get(begun.body)
    const send = () => sendPasskey(service, { passkey, cookie: cookieIn(begun) })
    const codes = (await Promise.all(Array.from({ length: 20 }, send))).map(codeOf)
    expect(codes.filter(([status]) => status === 201)).toHaveLength(1)
    expect(codes.filter(([status]) => status === 401)).toHaveLength(19)
    expect(codeOf(await send())).toEqual(REFUSED)
  })

  test('is tied to the browser that began, and to what it was begun for', async () => {
    const ada = await withPasskey()
    const [begun, other] = [await beginSignIn(service), await beginSignIn(service)]
    const passkey = ada.device.get(begun.body)
    const adding = await service.post('/api/me/passkeys/challenge', undefined, ada.with)
    const forAdding = ada.device.get({ ...begun.body, challenge: adding.body.challenge })
    const refused = [
      await sendPasskey(service, { passkey, cookie: '' }),
      await sendPasskey(service, { passkey, cookie: cookieIn(other) }),
      await sendPasskey(service, { passkey: forAdding, cookie: cookieIn(adding) }),
    ]
    expect(refused.map(codeOf)).toEqual(Array(3).fill(REFUSED))
    expect((await sendPasskey(service, { passkey, cookie: cookieIn(begun) })).status).toBe(201)
  })

  test('expires after ten minutes by the clock of the database, and is deleted then', async () => {
    const { device } = await withPasskey()
    const [used, left] = [await beginSignIn(service), await beginSignIn(service)]
    await passTime(service, 10 * MINUTE_MS)
    expect(codeOf(await signInWithPasskey(service, device, { begun: used }))).toEqual(REFUSED)
    expect((await service.query('select hash from sign_in_attempts')).length).toBeGreaterThan(0)
    await service.service.cleanup.cleanUp()
    expect(await service.query('select hash from sign_in_attempts')).toEqual([])
    expect(left.status).toBe(200)
  })

  test('ends when its person is deactivated', async () => {
    const ada = await person(service)
    await service.post('/api/me/passkeys/challenge', undefined, ada.with)
    await service.patch(`/api/users/${ada.id}`, { isActive: false })
    expect(await service.query('select hash from sign_in_attempts where user_id = $1', [ada.id])).toEqual([])
  })

  test('is not stored in clear with the cookie, and takes no large body', async () => {
    const begun = await beginSignIn(service)
    const rows = await service.query('select row_to_json(a)::text as row from sign_in_attempts a')
    const text = rows.map(({ row }) => row).join('\n')
    expect(text).toContain(begun.body.challenge)
    expect(text).not.toContain(cookieIn(begun).split('=')[1])
    const large = await service.post('/api/sessions/passkey-challenge', 'x'.repeat(20_000), { key: null })
    expect(codeOf(large)).toEqual([413, 'body_too_large'])
  })
})

describe('limits', () => {
  test('of one address: wrong passkeys, and sign-ins that are begun', async () => {
    const app = await startApp({ env: { PUBLIC_URL, RATE_LIMIT_FAILURES_PER_MINUTE: '4' } })
    const { device } = await withPasskey(app)
    const begun = await Promise.all(Array.from({ length: 25 }, () => beginSignIn(app)))
    expect(begun.filter(({ status }) => status === 200)).toHaveLength(20)
    const limited = begun.find(({ status }) => status === 429)
    expect(Number(limited?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    const [first] = begun
    for (let n = 0; n < 4; n++) {
      const wrong = await sendPasskey(app, { passkey: device.get(first?.body), cookie: 'inlet_passkey=x' })
      expect(codeOf(wrong)).toEqual(REFUSED)
    }
    const wrong = await sendPasskey(app, { passkey: device.get(first?.body), cookie: '' })
    expect(codeOf(wrong)).toEqual([429, 'rate_limited'])
    // A right one is never held up.
    const right = begun.findLast(({ status }) => status === 200)
    expect((await signInWithPasskey(app, device, right && { begun: right })).status).toBe(201)
    await app.close()
  })
})

describe('without a public URL', () => {
  test('passkeys work at localhost, and at no other name that a request claims', async () => {
    const app = await startApp()
    const at = (host: string) => ({ key: null, headers: { 'x-forwarded-host': host, host } })
    expect((await app.get('/api/sign-in', { key: null })).body.passkeys).toBe(false)
    const refused = await app.post('/api/sessions/passkey-challenge', undefined, at('evil.example'))
    expect(codeOf(refused)).toEqual([422, 'public_url_missing'])
    const localhost = { ...app, url: app.url.replace('127.0.0.1', 'localhost') }
    const response = await fetch(`${localhost.url}/api/sign-in`)
    expect(await response.json()).toMatchObject({ passkeys: true })
    const begun = await fetch(`${localhost.url}/api/sessions/passkey-challenge`, { method: 'POST' })
    expect(await begun.json()).toMatchObject({ rpId: 'localhost' })
    await app.close()
  })
})
