import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { authenticator } from '../support/authenticator.ts'
import { addPasskey, beginSignIn, cookieIn, PUBLIC_URL, signInWithPasskey } from '../support/passkeys.ts'
import { PASSWORD, person, signedIn, signInAs } from '../support/people.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { PUBLIC_URL } })
})
afterAll(() => service.close())

const invite = async (body: object = { name: 'Ada', role: 'member' }) =>
  (await service.post('/api/invites', body)).body

const begin = (body: object) => service.post('/api/invites/passkey-challenge', body, { key: null })

const accept = (body: object, cookie: string) =>
  service.post('/api/invites/accept', body, { key: null, headers: { cookie } })

const passkeysOf = async (id: string) =>
  (await service.query('select count(*)::integer as count from passkeys where user_id = $1', [id]))[0].count

describe('an invite', () => {
  test('is accepted with a passkey instead of a password', async () => {
    const { secret } = await invite()
    const begun = await begin({ secret, username: 'ada' })
    expect([begun.status, begun.body]).toMatchObject([
      200,
      { user: { name: 'ada', displayName: 'Ada' }, excludeCredentials: [] },
    ])
    expect(begun.headers.get('set-cookie')).toContain('Path=/api/invites;')
    const device = authenticator(PUBLIC_URL)
    const body = { secret, username: 'ada', passkey: device.create(begun.body) }
    const response = await accept(body, cookieIn(begun))
    expect([response.status, response.body]).toMatchObject([201, { name: 'Ada', keyId: null }])
    expect(response.headers.getSetCookie()).toHaveLength(1)
    const ada = signedIn(service, { response, username: 'ada' })
    expect((await service.get('/api/me/passkeys', ada.with)).body.data).toMatchObject([
      { rpId: 'inlet.example.com', lastUsedAt: null },
    ])
    expect((await signInWithPasskey(service, device)).body.userId).toBe(ada.id)
    expect((await signInAs(service, 'ada')).response.status).toBe(401)
    const later = await accept(body, cookieIn(begun))
    expect(codeOf(later)).toEqual([410, 'invite_invalid'])
  })

  test('for a new password adds a passkey, removes the password, and keeps other passkeys', async () => {
    const bob = await person(service)
    const { device: old } = await addPasskey(service, bob)
    await service.post('/api/me/passkeys/challenge', undefined, bob.with)
    const { id: inviteId, secret } = await invite({ userId: bob.id })
    const begun = await begin({ secret })
    expect(begun.body).toMatchObject({ user: { name: bob.username }, excludeCredentials: [{}] })
    const device = authenticator(PUBLIC_URL)
    const response = await accept({ secret, passkey: device.create(begun.body) }, cookieIn(begun))
    expect([response.status, response.body.userId]).toEqual([201, bob.id])
    expect((await service.get('/api/me', bob.with)).status).toBe(401)
    expect((await signInAs(service, bob.username)).response.status).toBe(401)
    for (const each of [old, device]) expect((await signInWithPasskey(service, each)).status).toBe(201)
    expect(await service.query('select hash from sign_in_attempts where user_id = $1', [bob.id])).toEqual([])
    const { data } = (await service.get('/api/activity?type=person.password_removed')).body
    expect(data).toMatchObject([{ actor: { type: 'user', id: bob.id }, metadata: { inviteId } }])
  })

  test('for a new password that gets one keeps passkeys', async () => {
    const bob = await person(service)
    const { device } = await addPasskey(service, bob)
    const { secret } = await invite({ userId: bob.id })
    expect((await accept({ secret, password: 'another long password' }, '')).status).toBe(201)
    expect((await signInWithPasskey(service, device)).status).toBe(201)
  })

  test('tells before the passkey is created that the name is taken, or the invite invalid', async () => {
    const { username } = await person(service)
    const { secret } = await invite()
    expect(codeOf(await begin({ secret, username }))).toEqual([409, 'username_taken'])
    expect(codeOf(await begin({ secret, username: 'me' }))).toEqual([409, 'username_taken'])
    expect(codeOf(await begin({ secret }))).toEqual([400, 'validation_failed'])
    expect(codeOf(await begin({ secret: 'x', username: 'eve' }))).toEqual([410, 'invite_invalid'])
  })

  test('takes no passkey of another browser, invite or kind of challenge, and stays valid', async () => {
    const [mine, other] = [await invite(), await invite()]
    const names = { username: 'carol' }
    const begun = await begin({ secret: other.secret, ...names })
    const signing = await beginSignIn(service)
    const passkey = authenticator(PUBLIC_URL).create(begun.body)
    const forSigning = authenticator(PUBLIC_URL).create({ ...begun.body, challenge: signing.body.challenge })
    const refused = [
      await accept({ secret: other.secret, ...names, passkey }, ''),
      await accept({ secret: mine.secret, ...names, passkey }, cookieIn(begun)),
      await accept({ secret: other.secret, ...names, passkey }, cookieIn(begun)),
      await accept({ secret: other.secret, ...names, passkey: forSigning }, cookieIn(signing)),
    ]
    for (const response of refused) {
      expect([...codeOf(response), response.body.errors[0].path]).toEqual([
        400,
        'validation_failed',
        '/passkey',
      ])
    }
    const again = await begin({ secret: mine.secret, ...names })
    const created = authenticator(PUBLIC_URL).create(again.body)
    const accepted = await accept({ secret: mine.secret, ...names, passkey: created }, cookieIn(again))
    expect(accepted.status).toBe(201)
    expect(await passkeysOf(accepted.body.userId)).toBe(1)
  })

  test('takes either a password or a passkey', async () => {
    const { secret } = await invite()
    const begun = await begin({ secret, username: 'dora' })
    const passkey = authenticator(PUBLIC_URL).create(begun.body)
    const names = { secret, username: 'dora' }
    const both = await accept({ ...names, passkey, password: PASSWORD }, cookieIn(begun))
    expect([...codeOf(both), both.body.errors[0].path]).toEqual([400, 'validation_failed', '/passkey'])
    const neither = await accept(names, '')
    expect([...codeOf(neither), neither.body.errors[0].path]).toEqual([400, 'validation_failed', '/password'])
  })

  test('is possible while passwords are off, if passkeys are', async () => {
    const app = await startApp({ env: { PUBLIC_URL, PASSWORD_SIGN_IN: 'off' } })
    expect((await app.post('/api/invites', { name: 'Ada', role: 'owner' })).status).toBe(201)
    expect((await app.get('/api/sign-in', { key: null })).body).toMatchObject({
      password: false,
      passkeys: true,
    })
    await app.close()
  })
})
