import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { passTime } from '../support/database-clock.ts'
import { browserOf } from '../support/identity-browser.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { person } from '../support/people.ts'
import { ALLOWED, account, addProvider, signInAt, startWithPublicUrl } from '../support/providers.ts'

let service: TestApp
let provider: Awaited<ReturnType<typeof startOidcProvider>>
let id: string
beforeAll(async () => {
  service = await startWithPublicUrl({ hasDatabaseClock: true })
  provider = await startOidcProvider()
  const scopes = ['profile', 'email', 'groups']
  const added = await addProvider(service, { issuer: provider.issuer, scopes, ...ALLOWED })
  id = added.id
  await provider.register(added.redirectUrl)
})
afterAll(async () => {
  await provider.close()
  await service.close()
})

const configure = async (change: object) => {
  const response = await service.patch(`/api/identity-providers/${id}`, change)
  expect([response.status, response.body.code]).toEqual([200, undefined])
}
const signIn = (given: object = {}) => {
  const somebody = account(given)
  provider.signIn(somebody)
  return signInAt(service, id)
}
const error = (code: string) => `/sign-in?error=${code}`

describe('signing in at a provider', () => {
  test('creates a person whom the domain lets in, once', async () => {
    provider.signIn(account({ preferred_username: 'Zoë', name: 'Zo\u202eë\0 Acme' }))
    const { arrival, me, browser } = await signInAt(service, id, { query: '?returnTo=/tasks/1%3Fa=b' })
    expect(arrival.at).toBe('/tasks/1?a=b')
    expect(me).toMatchObject({ user: { username: 'zoe', name: 'Zoë Acme', role: 'member' } })
    expect(browser.cookie('inlet_sign_in')).toBeUndefined()
    expect((await signInAt(service, id)).me.user.id).toBe(me.user.id)
    const log = await service.query('select type, metadata from activity where actor_id = $1', [me.user.id])
    expect(log.map(({ type }) => type)).toEqual([
      'person.created',
      'identity.linked',
      'session.created',
      'session.created',
    ])
    expect(JSON.stringify(log)).not.toContain('@')
  })

  test('creates one person, also if a browser comes twice at once, and different usernames', async () => {
    provider.signIn(account({ preferred_username: 'twice' }))
    const twice = await Promise.all(Array.from({ length: 6 }, () => signInAt(service, id)))
    expect(new Set(twice.map(({ me }) => me.user.id)).size).toBe(1)
    const names = []
    for (let count = 0; count < 3; count++) {
      names.push((await signIn({ preferred_username: 'twice' })).me.user.username)
    }
    expect(names).toEqual(['twice-2', 'twice-3', 'twice-4'])
  })

  test.each<[string, object]>([
    ['of another domain', { email: 'evil@acme.com.evil' }],
    ['whose address is not verified', { email_verified: 'true' }],
    ['without an address', { email: undefined }],
  ])('is refused to somebody new %s', async (_, claims) => {
    expect((await signIn(claims)).arrival.at).toBe(error('not_allowed'))
  })

  test('never identifies somebody by the address or the username', async () => {
    const ada = await person(service, { username: 'ada' })
    await service.patch('/api/me', { email: 'ada@acme.com' }, ada.with)
    const { me } = await signIn({ preferred_username: 'ada', email: 'ada@acme.com' })
    expect(me.user).toMatchObject({ username: 'ada-2' })
    expect(me.user.id).not.toBe(ada.id)
  })

  test('is refused to people who were deactivated', async () => {
    const somebody = account()
    const { me } = await signIn(somebody)
    await service.patch(`/api/users/${me.user.id}`, { isActive: false })
    expect((await signIn(somebody)).arrival.at).toBe(error('deactivated'))
  })

  test('is refused to somebody new where people are invited', async () => {
    const known = account()
    await signIn(known)
    await configure({ createUsers: 'invited' })
    expect((await signIn()).arrival.at).toBe(error('not_invited'))
    expect((await signIn(known)).arrival.at).toBe('/')
    await configure({ createUsers: 'allowed' })
  })

  test('must be completed within ten minutes', async () => {
    const browser = browserOf(service)
    provider.signIn(account())
    const { at } = await browser.open(`/auth/${id}`, {
      until: ({ pathname }) => pathname.endsWith('/callback'),
    })
    await passTime(service, 10 * 60_000)
    expect((await browser.open(at)).at).toBe(error('attempt_invalid'))
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\evil.example',
    'https://evil.example',
    '/\t/evil.example',
  ])('does not lead elsewhere: %j', async (returnTo) => {
    const query = `?returnTo=${encodeURIComponent(returnTo)}`
    expect((await signInAt(service, id, { query })).arrival.at).toBe(error('return_invalid'))
  })

  test('says that the person cancelled it at the provider', async () => {
    const browser = browserOf(service)
    const { at } = await browser.open(`/auth/${id}`, {
      until: ({ pathname }) => pathname.endsWith('/callback'),
    })
    const cancelled = new URL(at, 'https://inlet.test')
    cancelled.searchParams.delete('code')
    cancelled.searchParams.set('error', 'access_denied')
    expect((await browser.open(cancelled.href)).at).toBe(error('provider_denied'))
  })

  test('is not possible at an unknown provider, which is no page', async () => {
    for (const path of [`/auth/${UNKNOWN_ID}`, '/auth/nobody', '/auth/env']) {
      expect(codeOf(await service.get(path, { key: null }))).toEqual([404, 'identity_provider_not_found'])
    }
    for (const path of ['/auth', `/auth/${id}/other`, '/auth/a/b/c']) {
      expect(codeOf(await service.get(path, { key: null }))).toEqual([404, 'not_found'])
    }
  })

  test('is begun five times as often from one address as credentials may be wrong, however it is begun', async () => {
    const app = await startWithPublicUrl({ env: { RATE_LIMIT_FAILURES_PER_MINUTE: '1' } })
    const begin = async () => (await browserOf(app).open(`/auth/${UNKNOWN_ID}`)).status
    const accept = () =>
      app.post('/api/invites/accept-at-provider', { secret: 'x', providerId: 'env' }, { key: null })
    for (let count = 0; count < 4; count++) expect(await begin()).toBe(404)
    expect(codeOf(await accept())).not.toEqual([429, 'rate_limited'])
    expect(codeOf(await accept())).toEqual([429, 'rate_limited'])
    expect((await browserOf(app).open(`/auth/${UNKNOWN_ID}`)).at).toBe(error('too_many_attempts'))
    await app.close()
  })

  test('says what is missing without PUBLIC_URL', async () => {
    const env = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: 'inlet', OIDC_CLIENT_SECRET: 'a-secret' }
    const app = await startApp({ env })
    expect((await signInAt(app, 'env')).arrival.at).toBe(error('public_url_missing'))
    const { steps } = (await app.post('/api/identity-providers/env/test')).body
    expect(steps.at(-1)).toMatchObject({ step: 'redirect', isOk: false })
    await app.close()
  })
})

describe('groups', () => {
  const ROLES = { roleByGroup: { admins: 'owner', staff: 'member' }, newUsers: { role: 'viewer' } }

  test('decide the role at each sign-in, and nobody else does', async () => {
    await configure(ROLES)
    const somebody = account()
    const roleWith = async (groups: unknown) => (await signIn({ ...somebody, groups })).me.user.role
    expect(await roleWith(['staff', 'admins'])).toBe('owner')
    await person(service, { role: 'owner' })
    expect(await roleWith('staff')).toBe('member')
    expect(await roleWith(undefined)).toBe('member')
    expect(await roleWith(Array.from({ length: 10_000 }, (_, n) => `group-${n}`))).toBe('viewer')
    const { me } = await signIn({ ...somebody, groups: 'staff' })
    const change = (body: object) => service.patch(`/api/users/${me.user.id}`, body)
    expect(codeOf(await change({ role: 'owner' }))).toEqual([409, 'role_managed_by_provider'])
    expect((await change({ role: 'member', name: 'Renamed' })).status).toBe(200)
    await configure({ roleByGroup: {} })
    expect((await change({ role: 'viewer' })).status).toBe(200)
  })

  test('leave the last owner one', async () => {
    const app = await startWithPublicUrl()
    const own = await startOidcProvider()
    const rules = { ...ALLOWED, ...ROLES, scopes: ['email', 'groups'] }
    const added = await addProvider(app, { issuer: own.issuer, ...rules })
    await own.register(added.redirectUrl)
    const somebody = account()
    own.signIn({ ...somebody, groups: ['admins'] })
    expect((await signInAt(app, added.id)).me.user.role).toBe('owner')
    own.signIn({ ...somebody, groups: [] })
    expect((await signInAt(app, added.id)).me.user.role).toBe('owner')
    await own.close()
    await app.close()
  })

  test('that are required end the sessions of who lost them', async () => {
    await configure({ requiredGroup: 'staff' })
    const somebody = account()
    const { browser, me } = await signIn({ ...somebody, groups: ['staff'] })
    expect(me.user).toBeDefined()
    for (const groups of [['others'], undefined, 'staff2']) {
      expect((await signIn({ ...somebody, groups })).arrival.at).toBe(error('group_required'))
    }
    expect((await browser.call('GET', '/api/me')).status).toBe(401)
    await configure({ requiredGroup: null })
  })
})
