import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { startCodeHost } from '../support/code-host.ts'
import { type App, pathOf, sent, withApps } from '../support/connecting-apps.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ tokens: { own: {} }, env: { CODEHOST_TOKEN: 'own' }, hostTimeoutMs: 2_000 })
  service.host.repository('acme/private', { isPrivate: true }).fill(2)
  service.host.repository('acme/other', { isPrivate: true }).fill(1)
})
afterEach(() => {
  service.host.onResponse(() => {})
  service.host.heal()
})
afterAll(() => service.close())

const { project, tokenRequests } = withApps(() => service)

describe('connecting with a GitHub App', () => {
  test('reads the repository with tokens of the installation, and never returns the private key', async () => {
    const app = service.host.app()
    const { project: created, put } = await project()
    const since = service.host.requests.length
    const response = await put({ app: sent(app) })
    const { appId, installationId } = app
    expect(response.body).toMatchObject({ hasToken: false, app: { appId, installationId } })
    expect(await service.sync(created.id)).toMatchObject({ status: 'completed', fetched: 2 })
    expect(tokenRequests(since)).toEqual([`201 /app/installations/${installationId}/access_tokens`])
    const used = service.host.requests.slice(since + 1).map(({ headers }) => headers.authorization)
    expect(new Set(used)).toEqual(new Set([`token ghs_${installationId}_1`]))

    const seen = await service.get(pathOf(created.id))
    expect(seen.body.app).toEqual({ appId, installationId })
    const [row] = await service.query('select to_jsonb(c) as row from codehost_connections c where id = $1', [
      response.body.id,
    ])
    const activities = await service.get(`/api/activity?projectId=${created.id}`)
    for (const text of [response.body, seen.body, row, activities.body].map((each) => JSON.stringify(each))) {
      expect(text).not.toContain('PRIVATE KEY')
      expect(text).not.toContain(app.privateKey.slice(40, 80))
    }
  })

  test.each<[string, (pem: string) => string]>([
    ['as PKCS#8', (pem) => createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['with escaped line breaks', (pem) => pem.replaceAll('\n', '\\n')],
    ['with escaped line breaks of Windows', (pem) => pem.replaceAll('\n', '\\r\\n')],
    ['with line breaks of Windows and spaces around', (pem) => ` ${pem.replaceAll('\n', '\r\n')} \n`],
  ])('takes a private key %s', async (_, written) => {
    const app = service.host.app()
    const { put } = await project()
    expect(await put({ app: sent({ ...app, privateKey: written(app.privateKey) }) })).toMatchObject({
      status: 200,
    })
  })

  const pem = { type: 'pkcs8', format: 'pem' } as const
  const ofCurve = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem).toString()
  test.each<[string, (app: App) => string]>([
    ['text', () => 'my key'],
    ['the first line', () => '-----BEGIN RSA PRIVATE KEY-----'],
    ['a truncated key', ({ privateKey }) => privateKey.slice(0, 900)],
    ['a key of another kind', ofCurve],
    [
      'an encrypted key',
      ({ privateKey }) =>
        createPrivateKey(privateKey)
          .export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'secret' })
          .toString(),
    ],
    ['NUL', ({ privateKey }) => `${privateKey}\0`.replace('R', '\0')],
  ])('rejects %s as the private key, without any request', async (_, keyOf) => {
    const app = service.host.app()
    const { put } = await project()
    const since = service.host.requests.length
    const response = await put({ app: sent({ ...app, privateKey: keyOf(app) }) })
    expect(response).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ path: '/app/privateKey' }] },
    })
    expect(service.asked(since)).toEqual([])
  })

  test.each<[string, object, string]>([
    ['no installation', { installationId: undefined }, '/app/installationId'],
    ['an ID as text', { appId: '12' }, '/app/appId'],
    ['an ID of 0', { installationId: 0 }, '/app/installationId'],
    ['an ID above the largest integer', { appId: 2 ** 53 }, '/app/appId'],
    ['a long key', { privateKey: 'x'.repeat(5_001) }, '/app/privateKey'],
    ['an unknown member', { clientId: 'x' }, '/app/clientId'],
  ])('rejects %s', async (_, odd, path) => {
    const { put } = await project()
    const response = await put({ app: { ...sent(service.host.app()), ...odd } })
    expect([response.status, response.body.errors.map((error: { path: string }) => error.path)]).toEqual([
      400,
      [path],
    ])
  })

  test('rejects a token together with an App', async () => {
    const { put } = await project()
    const response = await put({ token: 'own', app: sent(service.host.app()) })
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: '/token' }, { path: '/app' }] } })
  })
})

describe('the stored App', () => {
  test('is kept when omitted, replaced by a token, and the token by it', async () => {
    const app = service.host.app()
    const { project: created, put } = await project()
    const ids = { appId: app.appId, installationId: app.installationId }
    const used = async () => {
      const since = service.host.requests.length
      expect(await service.sync(created.id)).toMatchObject({ status: 'completed' })
      return service.host.requests.at(-1)?.headers.authorization ?? service.asked(since)
    }
    await put({ app: sent(app) })
    expect((await put({})).body).toMatchObject({ hasToken: false, app: ids })
    expect((await put({ token: null })).body).toMatchObject({ hasToken: false, app: ids })
    expect((await put({ repository: 'acme/other' })).body).toMatchObject({ app: ids })
    expect(await used()).toMatch(/^token ghs_/)

    expect((await put({ token: 'own' })).body).toMatchObject({ hasToken: true, app: null })
    expect(await used()).toBe('token own')
    expect((await put({ app: null })).body).toMatchObject({ hasToken: true, app: null })
    expect((await put({ token: null, app: sent(app) })).body).toMatchObject({ hasToken: false, app: ids })
    expect(await used()).toMatch(/^token ghs_/)
    expect((await put({ app: null })).body).toMatchObject({ hasToken: false, app: null })
    expect(await used()).toBe('token own')
    const { body } = await service.get(`/api/activity?projectId=${created.id}&type=connection.updated`)
    const changes = body.data.map(({ metadata }: { metadata: { changes: object } }) => metadata.changes)
    expect(changes).toEqual(
      expect.arrayContaining([
        { app: 'removed' },
        expect.objectContaining({ token: 'changed', app: 'removed' }),
        { token: 'removed', app: 'changed' },
      ]),
    )
  })

  test('can be used by a key bound to the project only with its own key', async () => {
    const app = service.host.app()
    const { project: created, put } = await project()
    const bound = { key: await service.given.key({ projectId: created.id }) }
    await put({ app: sent(app) })
    for (const body of [
      { repository: 'acme/other' },
      { repository: 'acme/other', app: null },
      { app: null },
    ]) {
      expect(await put(body, bound)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    }
    expect(await put({ repository: 'acme/other', app: sent(app) }, bound)).toMatchObject({ status: 200 })
  })

  test('is not silently dropped under another encryption key', async () => {
    const { project: created, put } = await project()
    await put({ app: sent(service.host.app()) })
    const { connectionString, host } = service
    const env = { CODEHOST_API_URLS: host.url, ENCRYPTION_KEY: 'cd'.repeat(32) }
    const other = await startApp({ env, connectionString })
    const response = await other.put(pathOf(created.id), { repository: 'acme/private' })
    expect(response).toMatchObject({ status: 422, body: { code: 'codehost_token_rejected' } })
    expect((await service.get(pathOf(created.id))).body.app).not.toBeNull()
    await other.close()
  })
})

describe('a refusal names what to do', () => {
  const another = () => service.host.app().privateKey
  const cases: [string, (app: App) => object, string, RegExp][] = [
    [
      'another key',
      () => ({ privateKey: another() }),
      'codehost_token_rejected',
      /private key or the app ID/,
    ],
    ['an unknown App', () => ({ appId: 1 }), 'codehost_token_rejected', /Check the app ID/],
    ['an unknown installation', () => ({ installationId: 1 }), 'codehost_token_rejected', /installation ID/],
    [
      'an installation of another App',
      () => ({ installationId: service.host.app().installationId }),
      'codehost_token_rejected',
      /installation ID/,
    ],
    [
      'a suspended installation',
      ({ installation }) => Object.assign(installation, { state: 'suspended' }) && {},
      'codehost_access_denied',
      /Unsuspend.*has been suspended/,
    ],
    [
      'an installation without access to the repository',
      ({ installation }) => Object.assign(installation, { permissions: { repositories: [] } }) && {},
      'codehost_repository_not_found',
      /installation of the GitHub App has no access/,
    ],
    [
      'an installation without permission to read issues',
      ({ installation }) => Object.assign(installation, { permissions: { canReadIssues: false } }) && {},
      'codehost_access_denied',
      /accept the new permissions/,
    ],
  ]
  test.each(cases)('%s', async (_, change, code, words) => {
    const app = service.host.app()
    const { put } = await project()
    const response = await put({ app: { ...sent(app), ...change(app) } })
    expect([response.status, response.body.code]).toEqual([422, code])
    expect(response.body.detail).toMatch(words)
  })

  test.each<[string, 'suspended' | 'uninstalled', string, RegExp]>([
    ['suspended', 'suspended', 'codehost_access_denied', /Unsuspend/],
    ['removed', 'uninstalled', 'codehost_token_rejected', /install it again/],
  ])('a sync after the installation was %s', async (_, state, code, words) => {
    const app = service.host.app()
    const { project: created, put } = await project()
    await put({ app: sent(app) })
    app.installation.state = state
    expect(await service.sync(created.id)).toMatchObject({
      status: 'failed',
      error: { code, message: expect.stringMatching(words) },
    })
  })

  test('a token request without a response', async () => {
    const { put } = await project()
    service.host.fault('hang', { matches: ({ url }) => url.includes('access_tokens') })
    expect(await put({ app: sent(service.host.app()) })).toMatchObject({
      status: 503,
      body: { code: 'codehost_unreachable', detail: expect.stringContaining('within 2 s') },
    })
  })

  test.each<[string, object]>([
    ['an empty body', { status: 201, body: '' }],
    ['a token that is no header value', { status: 201, body: '{"token":"a\\r\\nb"}' }],
    ['no token', { status: 201, body: '{}' }],
  ])('a response for the token with %s', async (_, odd) => {
    const { put } = await project()
    const app = service.host.app()
    service.host.fault(odd as never, { matches: ({ url }) => url.includes('access_tokens') })
    expect(await put({ app: sent(app) })).toMatchObject({
      status: 503,
      body: { code: 'codehost_unreachable' },
    })
    expect(await put({ app: sent(app) })).toMatchObject({ status: 200 })
  })

  test('a redirect of the token request, which is not followed', async () => {
    const elsewhere = await startCodeHost()
    const { put } = await project()
    const location = `${elsewhere.url}/app/installations/1/access_tokens`
    service.host.fault(
      { status: 307, headers: { location } },
      { matches: ({ url }) => url.includes('access_tokens') },
    )
    expect(await put({ app: sent(service.host.app()) })).toMatchObject({ status: 503 })
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
  })
})
