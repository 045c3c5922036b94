import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, type TestApp } from '../support/app.ts'
import { passTime } from '../support/database-clock.ts'
import { type HostileProvider, startHostileProvider } from '../support/hostile-provider.ts'
import { browserOf } from '../support/identity-browser.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { PASSWORD, person, type SignedIn, signInAs } from '../support/people.ts'
import { addProvider, signInAt, startWithPublicUrl } from '../support/providers.ts'

let service: TestApp
let provider: HostileProvider
let id: string
beforeAll(async () => {
  service = await startWithPublicUrl({ hasDatabaseClock: true })
  provider = await startHostileProvider()
  ;({ id } = await addProvider(service, { issuer: provider.issuer }))
})
afterAll(async () => {
  await provider.close()
  await service.close()
})

let count = 0
/** Whoever comes to the provider next is somebody whom nobody has seen. */
const nextSubject = (): string => {
  const sub = `subject-${count++}`
  beSubject(sub)
  return sub
}
const beSubject = (sub: string) => provider.behave({ claims: { sub } })

/** The browser of somebody who is signed in. */
function browserWith({ with: { headers } }: SignedIn) {
  const browser = browserOf(service)
  browser.setCookie(`${headers.cookie}; Path=/`)
  return browser
}
const ownIdentities = async (ada: SignedIn) => (await service.get('/api/me/identities', ada.with)).body.data

async function link(ada: SignedIn) {
  const browser = browserWith(ada)
  const begun = await browser.call('POST', '/api/me/identities', { providerId: id })
  expect([begun.status, Object.keys(begun.body)]).toEqual([200, ['url']])
  return browser.open(begun.body.url)
}

describe('a provider that is linked', () => {
  test('signs in its person, and nobody else', async () => {
    const ada = await person(service)
    nextSubject()
    expect((await link(ada)).at).toBe('/settings/account')
    const [identity] = await ownIdentities(ada)
    expect(identity).toMatchObject({ providerId: id, providerName: 'Acme' })
    expect((await signInAt(service, id)).me.user.id).toBe(ada.id)
    expect((await link(await person(service))).at).toBe('/sign-in?error=identity_taken')
    expect((await link(ada)).at).toBe('/settings/account')
    expect(await ownIdentities(ada)).toHaveLength(1)
    nextSubject()
    expect((await signInAt(service, id)).arrival.at).toBe('/sign-in?error=not_invited')
  })

  test('needs a person who has signed in a moment ago', async () => {
    const ada = await person(service)
    const post = (options: object) => service.post('/api/me/identities', { providerId: id }, options)
    expect(codeOf(await post({}))).toEqual([403, 'person_required'])
    await passTime(service, 10 * 60_000)
    service.service.access.forget()
    expect(codeOf(await post(ada.with))).toEqual([403, 'sign_in_again'])
    const again = await signInAs(service, ada.username)
    const unknown = await service.post('/api/me/identities', { providerId: UNKNOWN_ID }, again.with)
    expect(codeOf(unknown)).toEqual([404, 'identity_provider_not_found'])
  })

  test('is not linked after the session that began it has ended', async () => {
    const ada = await person(service)
    const browser = browserWith(ada)
    nextSubject()
    const { url } = (await browser.call('POST', '/api/me/identities', { providerId: id })).body
    await service.delete(`/api/sessions/${ada.sessionId}`, (await signInAs(service, ada.username)).with)
    expect((await browser.open(url)).at).toBe('/sign-in?error=attempt_invalid')
    expect((await signInAt(service, id)).arrival.at).toBe('/sign-in?error=not_invited')
  })

  test('is not linked by what began before the access of the person ended', async () => {
    const ada = await person(service)
    nextSubject()
    const browser = browserWith(ada)
    const { url } = (await browser.call('POST', '/api/me/identities', { providerId: id })).body
    await service.put('/api/me/password', { password: 'the new password' }, ada.with)
    expect((await browser.open(url)).at).toBe('/sign-in?error=attempt_invalid')
  })

  test('is unlinked, but not as the last way in', async () => {
    const ada = await person(service)
    nextSubject()
    await link(ada)
    const [{ id: first }] = await ownIdentities(ada)
    const bob = await person(service)
    const unlink = (one: string, { with: options }: SignedIn) =>
      service.delete(`/api/me/identities/${one}`, options)
    expect(codeOf(await unlink(first, bob))).toEqual([404, 'identity_not_found'])
    expect((await unlink(first, ada)).status).toBe(204)
    expect((await signInAt(service, id)).arrival.at).toBe('/sign-in?error=not_invited')
    await link(ada)
    await service.query('delete from passwords where user_id = $1', [ada.id])
    const [{ id: last }] = await ownIdentities(ada)
    expect(codeOf(await unlink(last, ada))).toEqual([409, 'last_way_in'])
    expect(await ownIdentities(ada)).toHaveLength(1)
  })

  test('is the last way in where another one is switched off', async () => {
    const ada = await person(service)
    nextSubject()
    await link(ada)
    const second = await startHostileProvider()
    const other = await addProvider(service, { issuer: second.issuer })
    second.behave({ claims: { sub: 'ada' } })
    const browser = browserWith(ada)
    const { url } = (await browser.call('POST', '/api/me/identities', { providerId: other.id })).body
    await browser.open(url)
    await service.query('delete from passwords where user_id = $1', [ada.id])
    await service.patch(`/api/identity-providers/${other.id}`, { isActive: false })
    const [{ id: first }] = await ownIdentities(ada)
    const unlink = () => service.delete(`/api/me/identities/${first}`, ada.with)
    expect(codeOf(await unlink())).toEqual([409, 'last_way_in'])
    await service.patch(`/api/identity-providers/${other.id}`, { isActive: true })
    expect((await unlink()).status).toBe(204)
    await second.close()
  })
})

describe('an invite', () => {
  const invite = async (body: object) => (await service.post('/api/invites', body)).body.secret
  const begin = (browser: ReturnType<typeof browserOf>, body: object) =>
    browser.call('POST', '/api/invites/accept-at-provider', { providerId: id, ...body })

  test('is accepted at a provider, without a password', async () => {
    const secret = await invite({ name: 'Grace', role: 'viewer' })
    nextSubject()
    const browser = browserOf(service)
    const { status, body } = await begin(browser, { secret, username: 'grace' })
    expect(status).toBe(200)
    expect(body.url).not.toContain(secret)
    expect((await browser.open(body.url)).at).toBe('/')
    const me = (await browser.call('GET', '/api/me')).body
    expect(me.user).toMatchObject({ username: 'grace', name: 'Grace', role: 'viewer' })
    expect((await signInAt(service, id)).me.user.id).toBe(me.user.id)
    const used = await begin(browserOf(service), { secret, username: 'grace2' })
    expect([used.status, used.body.code]).toEqual([410, 'invite_invalid'])
    const stored = await service.query('select checks::text from sign_in_attempts')
    expect(JSON.stringify(stored)).not.toContain(secret)
  })

  test('is accepted once, by whichever browser comes first', async () => {
    const secret = await invite({ name: 'Grace', role: 'member' })
    const browsers = [browserOf(service), browserOf(service), browserOf(service)]
    const urls: string[] = []
    for (const [index, browser] of browsers.entries())
      urls.push((await begin(browser, { secret, username: `once-${index}` })).body.url)
    nextSubject()
    const places = await Promise.all(
      browsers.map(async (one, index) => (await one.open(urls[index] ?? '')).at),
    )
    // Two find that the invite is gone, or that the first has taken the identity.
    const refused = expect.stringMatching(/^\/sign-in\?error=(invite_invalid|identity_taken)$/)
    expect(places.sort()).toEqual(['/', refused, refused])
    expect(await service.query("select 1 from users where username like 'once-%'")).toHaveLength(1)
  })

  test('is not used up by a username that is taken, or an identity that is somebody’s', async () => {
    const secret = await invite({ name: 'Grace', role: 'member' })
    const ada = await person(service)
    const taken = nextSubject()
    await link(ada)
    const early = await begin(browserOf(service), { secret, username: ada.username })
    expect([early.status, early.body.code]).toEqual([409, 'username_taken'])
    const browser = browserOf(service)
    const { url } = (await begin(browser, { secret, username: 'late' })).body
    expect((await browser.open(url)).at).toBe('/sign-in?error=identity_taken')
    nextSubject()
    const second = (await begin(browser, { secret, username: 'late' })).body.url
    await person(service, { username: 'late' })
    expect((await browser.open(second)).at).toBe('/sign-in?error=username_taken')
    const third = (await begin(browser, { secret, username: 'later' })).body.url
    expect((await browser.open(third)).at).toBe('/')
    beSubject(taken)
    expect((await signInAt(service, id)).me.user.id).toBe(ada.id)
  })

  test('for a new password links the provider instead, and ends all sessions', async () => {
    const ada = await person(service)
    const secret = await invite({ userId: ada.id })
    nextSubject()
    const browser = browserOf(service)
    const named = await begin(browser, { secret, username: 'other' })
    expect([named.status, named.body.code]).toEqual([400, 'validation_failed'])
    const { url } = (await begin(browser, { secret })).body
    expect((await browser.open(url)).at).toBe('/')
    expect((await browser.call('GET', '/api/me')).body.user.id).toBe(ada.id)
    expect((await service.get('/api/me', ada.with)).status).toBe(401)
  })

  test('is begun on our own page only', async () => {
    const secret = await invite({ name: 'Grace', role: 'member' })
    const body = { secret, providerId: id, username: 'foreign', name: PASSWORD }
    const headers = { origin: 'https://evil.example' }
    const response = await service.post('/api/invites/accept-at-provider', body, { key: null, headers })
    expect(codeOf(response)).toEqual([403, 'origin_not_allowed'])
  })
})
