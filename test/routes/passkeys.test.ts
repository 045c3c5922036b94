import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { authenticator } from '../support/authenticator.ts'
import { passTime } from '../support/database-clock.ts'
import { addPasskey, cookieIn, PUBLIC_URL, signInWithPasskey, withCookie } from '../support/passkeys.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { PASSWORD, person, type SignedIn, signInAs } from '../support/people.ts'
import { signIn as signInWithKey } from '../support/sign-in.ts'

const MINUTE_MS = 60_000

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { PUBLIC_URL }, hasDatabaseClock: true })
})
afterAll(() => service.close())

const remove = (somebody: SignedIn, id: string, app = service) =>
  app.delete(`/api/me/passkeys/${id}`, somebody.with)

/** A person without a password. */
async function withoutPassword(): Promise<SignedIn> {
  const somebody = await person(service)
  await service.query('delete from passwords where user_id = $1', [somebody.id])
  return somebody
}

describe('a passkey', () => {
  test('is added with a name, listed, and removed, and the activity log says so without its key', async () => {
    const ada = await person(service)
    const { response, id, credential } = await addPasskey(service, ada, { name: ' Laptop ' })
    expect([response.status, response.body]).toEqual([
      201,
      { id, name: 'Laptop', rpId: 'inlet.example.com', createdAt: expect.any(String), lastUsedAt: null },
    ])
    expect((await service.get('/api/me/passkeys', ada.with)).body).toEqual({
      data: [response.body],
      nextCursor: null,
    })
    expect((await remove(ada, id)).status).toBe(204)
    expect((await service.get('/api/me/passkeys', ada.with)).body.data).toEqual([])
    expect(codeOf(await remove(ada, id))).toEqual([404, 'passkey_not_found'])
    const { data } = (await service.get('/api/activity?type=person.passkey_added')).body
    const metadata = { userId: ada.id, username: ada.username, passkeyId: id }
    expect(data[0]).toMatchObject({ metadata, actor: { type: 'user', id: ada.id } })
    const removed = (await service.get('/api/activity?type=person.passkey_removed')).body
    expect(removed.data[0]).toMatchObject({ metadata })
    expect(JSON.stringify([data, removed])).not.toContain(credential.id)
  })

  test('is created with user verification, to be found without a username, once on each device', async () => {
    const ada = await person(service, { name: 'Ada' })
    const { credential } = await addPasskey(service, ada)
    const { status, body, headers } = await service.post('/api/me/passkeys/challenge', undefined, ada.with)
    expect([status, body]).toMatchObject([
      200,
      {
        rp: { id: 'inlet.example.com', name: 'Inlet' },
        user: { name: ada.username, displayName: 'Ada' },
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: [{ id: credential.id, type: 'public-key', transports: ['internal', 'hybrid'] }],
      },
    ])
    expect(headers.get('set-cookie')).toMatch(
      /^inlet_passkey=[\w-]{43}; Max-Age=600; Path=\/api\/me\/passkeys; HttpOnly; Secure; SameSite=Strict$/,
    )
  })

  test('is not added twice, also by somebody else', async () => {
    const [ada, bob] = [await person(service), await person(service)]
    const { credential } = await addPasskey(service, ada)
    const stolen = authenticator(PUBLIC_URL)
    const begun = await service.post('/api/me/passkeys/challenge', undefined, bob.with)
    const other = stolen.create(begun.body)
    await service.query('update passkeys set credential_id = $1 where credential_id = $2', [
      other.id,
      credential.id,
    ])
    const options = withCookie(bob, cookieIn(begun))
    const again = await service.post('/api/me/passkeys', { name: 'x', credential: other }, options)
    expect(codeOf(again)).toEqual([409, 'passkey_taken'])
  })

  test.each([
    ['another site', { origin: 'https://evil.example' }],
    ['another host name', { rpId: 'evil.example' }],
    ['another challenge', { challenge: 'x'.repeat(43) }],
    ['no user verification', { isUserVerified: false }],
  ])('is not added with %s', async (_, deviation) => {
    const { response } = await addPasskey(service, await person(service), { deviation })
    expect([...codeOf(response), response.body.errors[0].path]).toEqual([
      400,
      'validation_failed',
      '/credential',
    ])
  })

  test('is not added with the challenge of somebody else, of another browser, or one that was used', async () => {
    const [ada, bob] = [await person(service), await person(service)]
    const { options, credential } = await addPasskey(service, ada)
    const begun = await service.post('/api/me/passkeys/challenge', undefined, ada.with)
    const created = authenticator(PUBLIC_URL).create(begun.body)
    const post = (body: object, callOptions: object) => service.post('/api/me/passkeys', body, callOptions)
    const body = { name: 'x', credential: created }
    const refused = [
      await post({ ...body, credential }, options),
      await post(body, bob.with),
      await post(body, withCookie(bob, cookieIn(begun))),
      await post(body, withCookie(ada, cookieIn(begun))),
    ]
    expect(refused.map(codeOf)).toEqual(Array(4).fill([400, 'validation_failed']))
    expect((await service.get('/api/me/passkeys', bob.with)).body.data).toEqual([])
  })

  test('is one of twenty at most, also if several are added at once', async () => {
    const ada = await person(service)
    for (let n = 0; n < 18; n++) await addPasskey(service, ada)
    const added = await Promise.all(Array.from({ length: 4 }, () => addPasskey(service, ada)))
    expect(added.map(({ response }) => codeOf(response)).sort()).toEqual([
      [201, undefined],
      [201, undefined],
      [409, 'too_many_passkeys'],
      [409, 'too_many_passkeys'],
    ])
  })

  test('is not read beyond a few KiB', async () => {
    const ada = await person(service)
    const response = { clientDataJSON: 'x'.repeat(50_000), attestationObject: 'x' }
    const body = { name: 'x', credential: { id: 'x', response } }
    expect(codeOf(await service.post('/api/me/passkeys', body, ada.with))).toEqual([413, 'body_too_large'])
  })
})

describe('who changes passkeys', () => {
  test('has signed in less than ten minutes ago', async () => {
    const ada = await person(service)
    const { id } = await addPasskey(service, ada)
    await passTime(service, 10 * MINUTE_MS)
    service.service.access.forget()
    const begun = await service.post('/api/me/passkeys/challenge', undefined, ada.with)
    expect(codeOf(begun)).toEqual([403, 'sign_in_again'])
    expect(codeOf(await remove(ada, id))).toEqual([403, 'sign_in_again'])
    expect((await service.get('/api/me/passkeys', ada.with)).status).toBe(200)
  })

  test('is a person, not a key', async () => {
    const session = await signInWithKey(service, service.adminKey)
    for (const options of [{}, session.with]) {
      const refused = [
        await service.get('/api/me/passkeys', options),
        await service.post('/api/me/passkeys/challenge', undefined, options),
        await service.delete(`/api/me/passkeys/${UNKNOWN_ID}`, options),
      ]
      expect(refused.map(codeOf)).toEqual(Array(3).fill([403, 'person_required']))
    }
  })

  test('changes nobody else’s', async () => {
    const [ada, bob] = [await person(service), await person(service)]
    const { id } = await addPasskey(service, ada)
    expect(codeOf(await remove(bob, id))).toEqual([404, 'passkey_not_found'])
  })

  test('cannot add one after the session has ended, or the person was deactivated', async () => {
    const ada = await person(service)
    const begun = await service.post('/api/me/passkeys/challenge', undefined, ada.with)
    const credential = authenticator(PUBLIC_URL).create(begun.body)
    const caller = await service.service.access.callerBySession(ada.with.headers.cookie.split('=')[1] ?? '')
    const other = await signInAs(service, ada.username)
    await service.delete(`/api/sessions/${ada.sessionId}`, other.with)
    const token = cookieIn(begun).split('=')[1]
    const adding = service.service.passkeys.add(caller, { name: 'x', credential, token })
    await expect(adding).rejects.toMatchObject({ code: 'invalid_credentials' })
  })
})

describe('the last way to sign in', () => {
  test('is not removed: neither the last passkey, nor one of two at once', async () => {
    const ada = await withoutPassword()
    const [first, second] = [await addPasskey(service, ada), await addPasskey(service, ada)]
    const both = await Promise.all([remove(ada, first.id), remove(ada, second.id)])
    expect(both.map(codeOf).sort()).toEqual([
      [204, undefined],
      [409, 'last_way_in'],
    ])
    const [left] = (await service.get('/api/me/passkeys', ada.with)).body.data
    expect(codeOf(await remove(ada, left.id))).toEqual([409, 'last_way_in'])
    expect((await service.put('/api/me/password', { password: PASSWORD }, ada.with)).status).toBe(204)
    expect((await remove(ada, left.id)).status).toBe(204)
  })

  test('is no passkey for another public URL, and no password while these are off', async () => {
    const ada = await person(service)
    const [usable, broken] = [await addPasskey(service, ada), await addPasskey(service, ada)]
    await service.query(`update passkeys set rp_id = 'old.example' where id = $1`, [broken.id])
    const { connectionString } = service
    const env = { PUBLIC_URL, PASSWORD_SIGN_IN: 'off' }
    const other = await startApp({ env, connectionString })
    const at = { ...ada, with: ada.at(other) }
    expect(codeOf(await remove(at, usable.id, other))).toEqual([409, 'last_way_in'])
    expect((await remove(at, broken.id, other)).status).toBe(204)
    expect((await signInWithPasskey(other, usable.device)).status).toBe(201)
    await other.close()
    expect((await remove(ada, usable.id)).status).toBe(204)
  })
})
