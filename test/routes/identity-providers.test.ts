import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reencryptAll, unreadableSecrets } from '../../src/services/encryption.ts'
import { codeOf, type TestApp } from '../support/app.ts'
import { type HostileProvider, startHostileProvider } from '../support/hostile-provider.ts'
import { CLIENT } from '../support/oidc-provider.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { person } from '../support/people.ts'
import { ALLOWED, addProvider, signInAt, startWithPublicUrl } from '../support/providers.ts'

let service: TestApp
let provider: HostileProvider
beforeAll(async () => {
  service = await startWithPublicUrl()
  provider = await startHostileProvider()
})
afterAll(async () => {
  await provider.close()
  await service.close()
})

const PATH = '/api/identity-providers'
const post = (body: object, options = {}) =>
  service.post(PATH, { name: 'Acme', issuer: 'https://login.example.com', ...CLIENT, ...body }, options)
const remove = (id: string, query = '') => service.delete(`${PATH}/${id}${query}`)

describe('an identity provider', () => {
  test('is added, listed and changed, and its secret is never returned', async () => {
    const created = await post({ issuer: 'https://one.example.com/realms/acme' })
    const { id } = created.body
    expect([created.status, created.headers.get('location')]).toEqual([201, `${PATH}/${id}`])
    expect(created.body).toMatchObject({
      scopes: ['openid', 'profile', 'email'],
      groupsClaim: 'groups',
      requiredGroup: null,
      roleByGroup: {},
      createUsers: 'invited',
      allowedDomains: [],
      newUsers: null,
      isActive: true,
      redirectUrl: `https://inlet.test/auth/${id}/callback`,
    })
    const change = { ...ALLOWED, isActive: false, clientSecret: 'another-secret' }
    const changed = await service.patch(`${PATH}/${id}`, change)
    const { clientSecret: _, ...shown } = change
    expect([changed.status, changed.body]).toMatchObject([200, shown])
    expect((await service.get(`${PATH}/${id}`)).body).toEqual(changed.body)
    expect((await service.get(PATH)).body).toMatchObject({ data: [changed.body], nextCursor: null })
    // Nobody can sign in with it.
    expect((await service.get('/api/sign-in', { key: null })).body.providers).toEqual([])
    expect((await signInAt(service, id)).arrival.at).toBe('/sign-in?error=provider_off')
    const stored = await service.query(`select row_to_json(p)::text as text from identity_providers p
      union all select row_to_json(a)::text from activity a where type like 'identity.%'`)
    for (const secret of [CLIENT.clientSecret, 'another-secret']) {
      expect(JSON.stringify([created.body, changed.body, stored])).not.toContain(secret)
    }
    expect((await remove(id)).status).toBe(204)
    expect(codeOf(await service.get(`${PATH}/${id}`))).toEqual([404, 'identity_provider_not_found'])
  })

  test.each<[string, object, string]>([
    ['allowed without a rule', { ...ALLOWED, allowedDomains: [] }, '/allowedDomains'],
    ['allowed without newUsers', { ...ALLOWED, newUsers: null }, '/newUsers'],
    ['roles without newUsers', { roleByGroup: { admins: 'owner' } }, '/newUsers'],
    ['owners by default', { newUsers: { role: 'owner' } }, '/newUsers/role'],
    ['http', { issuer: 'http://login.example.com' }, '/issuer'],
    ['a query', { issuer: 'https://login.example.com?a=b' }, '/issuer'],
    ['a user', { issuer: 'https://a:b@login.example.com' }, '/issuer'],
    ['a document', { issuer: 'https://login.example.com/.well-known/openid-configuration' }, '/issuer'],
    ['a NUL in a group', { roleByGroup: { 'a\0': 'member' }, newUsers: ALLOWED.newUsers }, '/roleByGroup'],
    ['a domain in capitals', { allowedDomains: ['Acme.com'] }, '/allowedDomains/0'],
    ['an internationalised domain', { allowedDomains: ['bücher.example'] }, '/allowedDomains/0'],
    ['a dot at the end', { allowedDomains: ['acme.com.'] }, '/allowedDomains/0'],
    ['an address', { allowedDomains: ['ada@acme.com'] }, '/allowedDomains/0'],
    ['an unknown role', { roleByGroup: { admins: 'admin' } }, '/roleByGroup/admins'],
  ])('with %s is refused', async (_, body, path) => {
    const { body: problem } = await post(body)
    expect([problem.code, problem.errors?.[0].path]).toEqual(['validation_failed', path])
  })

  test('cannot become one that lets in everybody', async () => {
    const { id } = await addProvider(service, { issuer: 'https://two.example.com', ...ALLOWED })
    expect(codeOf(await service.patch(`${PATH}/${id}`, { allowedDomains: [] }))).toEqual([
      400,
      'validation_failed',
    ])
    await remove(id)
  })

  test('has an issuer of its own, and there are five at most', async () => {
    const issuers = [3, 4, 5, 6, 7].map((n) => `https://idp-${n}.example.com`)
    const responses = await Promise.all([...issuers, ...issuers].map((issuer) => post({ issuer })))
    const created = responses.filter(({ status }) => status === 201)
    expect(created).toHaveLength(5)
    expect(codeOf(await post({ issuer: `${issuers[0]}/` }))).toEqual([409, 'identity_provider_exists'])
    expect(codeOf(await post({ issuer: 'https://six.example.com' }))).toEqual([
      409,
      'too_many_identity_providers',
    ])
    for (const { body } of created) await remove(body.id)
  })

  test('is managed by owners and lasting admin keys of all projects only', async () => {
    const [owner, member] = [await person(service, { role: 'owner' }), await person(service)]
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const expiring = (await service.post('/api/keys', { name: 'k', scopes: ['admin'], expiresAt })).body.key
    const project = await service.given.project()
    const bound = await service.given.key({ scopes: ['admin'], projectId: project.id })
    for (const options of [member.with, { key: expiring }, { key: bound }]) {
      expect(codeOf(await post({}, options))).toEqual([403, 'insufficient_scope'])
    }
    const { status, body } = await post({}, owner.with)
    expect(status).toBe(201)
    await remove(body.id)
  })

  test('keeps the projects of new people from being deleted', async () => {
    const project = await service.given.project()
    const newUsers = { role: 'viewer', projectIds: [project.id] }
    const { id } = await addProvider(service, { issuer: 'https://eight.example.com', newUsers })
    for (const name of [project.id, project.id.toUpperCase()]) {
      const response = await service.delete(`/api/projects/${name}`)
      expect([...codeOf(response), response.body.detail]).toEqual([
        409,
        'project_in_use',
        expect.stringContaining('identity provider'),
      ])
    }
    await remove(id)
    expect(codeOf(await post({ newUsers: { role: 'viewer', projectIds: [UNKNOWN_ID] } }))).toEqual([
      404,
      'project_not_found',
    ])
  })

  test('is deleted only if that is confirmed where people have no other way in', async () => {
    const { id } = await addProvider(service, { issuer: provider.issuer, ...ALLOWED })
    provider.behave({ claims: { sub: 'dependent', email: 'd@acme.com', email_verified: true } })
    const { me } = await signInAt(service, id)
    const refused = await remove(id)
    expect([...codeOf(refused), refused.body.detail]).toEqual([
      409,
      'identity_provider_in_use',
      expect.stringMatching(/^One person has no other way/),
    ])
    expect((await remove(id, '?confirm=true')).status).toBe(204)
    expect(await service.query('select 1 from identities where user_id = $1', [me.user.id])).toEqual([])
  })

  test('is tested step by step', async () => {
    const { id } = await addProvider(service, { issuer: provider.issuer })
    provider.behave({})
    const run = async () => (await service.post(`${PATH}/${id}/test`)).body
    expect(await run()).toEqual({
      isOk: true,
      steps: [
        { step: 'discovery', isOk: true, message: `The provider is ${provider.issuer}.` },
        { step: 'keys', isOk: true, message: expect.stringContaining('1 key') },
        { step: 'redirect', isOk: true, message: `https://inlet.test/auth/${id}/callback` },
      ],
    })
    provider.behave({ configuration: { jwks_uri: `${provider.issuer}/nothing` } })
    expect(await run()).toMatchObject({
      isOk: false,
      steps: [{ isOk: true }, { isOk: false }, { isOk: true }],
    })
    provider.behave({ isDown: true })
    expect(await run()).toMatchObject({ isOk: false, steps: [{ isOk: false }, { step: 'redirect' }] })
    await remove(id)
  })
})

test('the client secret is encrypted again with a new key, and what no key decrypts is named', async () => {
  const { id } = await addProvider(service, { issuer: provider.issuer, name: 'Rotated' })
  provider.behave({})
  const { repos, clock, connectionString } = service
  const [oldKey, newKey] = ['ab', 'cd'].map((byte) => Buffer.from(byte.repeat(32), 'hex')) as [Buffer, Buffer]
  const unreadable = () => unreadableSecrets({ repos, clock, keys: [newKey] })
  expect(await unreadable()).toMatchObject({
    identityProviders: 1,
    names: [`the client secret of the identity provider "Rotated" (${id})`],
  })
  const { signal } = new AbortController()
  const outcome = await reencryptAll({ repos, clock, randomBytes, signal, keys: [newKey, oldKey] })
  expect(outcome).toEqual({ changed: 1, kept: 0, unreadable: [] })
  expect(await unreadable()).toBeUndefined()
  const app = await startWithPublicUrl({ connectionString, env: { ENCRYPTION_KEY: 'cd'.repeat(32) } })
  expect((await app.post(`${PATH}/${id}/test`)).body.isOk).toBe(true)
  expect((await service.post(`${PATH}/${id}/test`)).body.steps[0]).toMatchObject({ isOk: false })
  expect((await signInAt(service, id)).arrival.at).toBe('/sign-in?error=provider_rejected')
  await app.close()
  await remove(id)
})

describe('the provider of the environment', () => {
  test('is listed under a fixed id, and changed only there', async () => {
    const env = {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'inlet',
      OIDC_CLIENT_SECRET: 'a-secret',
      PASSWORD_SIGN_IN: 'off',
    }
    const app = await startWithPublicUrl({ env })
    provider.behave({})
    const { data } = (await app.get(PATH)).body
    expect(data).toMatchObject([{ id: 'env', name: '127.0.0.1', createUsers: 'invited', createdAt: null }])
    expect((await app.get('/api/sign-in', { key: null })).body.providers).toEqual([
      { id: 'env', name: '127.0.0.1' },
    ])
    for (const response of [await app.patch(`${PATH}/env`, { name: 'x' }), await app.delete(`${PATH}/env`)]) {
      expect(codeOf(response)).toEqual([409, 'identity_provider_read_only'])
    }
    expect((await app.post(`${PATH}/env/test`)).body.isOk).toBe(true)
    expect((await signInAt(app, 'env')).arrival.at).toBe('/sign-in?error=not_invited')
    // Invites can be accepted there.
    expect((await app.post('/api/invites', { name: 'Ada', role: 'member' })).status).toBe(201)
    await app.close()
  })

  test('does not exist without the variables', async () => {
    expect(codeOf(await service.get(`${PATH}/env`))).toEqual([404, 'identity_provider_not_found'])
  })
})
