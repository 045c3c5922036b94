import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { startCodeHost } from '../support/code-host.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({
    tokens: { good: {}, weak: { canReadIssues: false }, sso: { singleSignOn: true } },
  })
  service.host.repository('acme/app', { id: 4711 }).fill(3)
  service.host.repository('acme/private', { isPrivate: true })
})
afterAll(() => service.close())

async function connect(body: object, projectId?: string) {
  const id = projectId ?? (await service.given.project()).id
  return { id, response: await service.put(`/api/projects/${id}/codehost`, body) }
}

describe('connecting a repository', () => {
  test('returns the connection, without the token and without a run', async () => {
    const { id, response } = await connect({ repository: 'acme/app', token: 'good' })
    expect(response.status).toBe(200)
    const { webhook, ...connection } = response.body
    expect(connection).toEqual({
      id: expect.any(String),
      projectId: id,
      repository: 'acme/app',
      apiUrl: service.host.url,
      hasToken: true,
      app: null,
      listId: null,
      schedule: 'hourly',
      writeBack: 'off',
      comments: false,
      nextRunAt: expect.any(String),
      connectedAt: expect.any(String),
      updatedAt: expect.any(String),
      lastRun: null,
    })
    expect(Date.parse(response.body.nextRunAt) - Date.parse(response.body.connectedAt)).toBe(3_600_000)
    const [row] = await service.query('select * from codehost_connections where project_id = $1', [id])
    expect(row).toMatchObject({ repository_id: '4711' })
    expect(row.token).not.toContain('good')
    expect((await service.get(`/api/codehost/${id}/syncs`)).body.data).toEqual([])
    expect((await service.get(`/api/projects/${id}/codehost`)).body).toEqual({
      ...connection,
      webhook: { url: webhook.url, hasSecret: true, lastDeliveryAt: null },
    })
  })

  test.each([
    'https://codehost.example/acme/app',
    'https://codehost.example/acme/app.git',
    'https://codehost.example/acme/app/',
    'git@codehost.example:acme/app.git',
    'ssh://git@codehost.example/acme/app.git',
    ' acme/app ',
  ])('accepts %s for acme/app', async (repository) => {
    expect((await connect({ repository })).response.body).toMatchObject({ repository: 'acme/app' })
  })

  test.each([
    'acme app/x',
    'acme',
    'acme/',
    '/app',
    'acme/app/issues',
    'acme/..',
    'acme/.',
    '../app',
    'acme/app?x=1',
    'acme/app#1',
    'acme/app@main',
    'a@b/app',
    'acme/ap p',
    'https://user:pass@codehost.example/acme/app',
    'https://codehost.example/acme/app?tab=issues',
    'https://codehost.example/acme/app#readme',
    'https://codehost.example/acme/../app',
    'file:///etc/passwd',
    'acme/%2e%2e',
    'acme/app\u0000',
  ])('rejects %j', async (repository) => {
    const { response } = await connect({ repository })
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed'])
    expect(response.body.errors[0].path).toBe('/repository')
  })

  test('rejects a URL of another host than the configured one', async () => {
    const app = await startSyncing({ env: { CODEHOST_API_URLS: 'https://api.codehost.example' } })
    const { id } = await app.given.project()
    const response = await app.put(`/api/projects/${id}/codehost`, {
      repository: 'https://elsewhere.example/acme/app',
    })
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed'])
    expect(response.body.errors[0]).toMatchObject({
      path: '/repository',
      message: expect.stringMatching(/elsewhere\.example.*api\.codehost\.example/),
    })
    await app.close()
  })

  test.each<[string, object, number, string, RegExp]>([
    ['no such repository', { repository: 'acme/nothing' }, 422, 'codehost_repository_not_found', /token/],
    [
      'a private one without a token',
      { repository: 'acme/private' },
      422,
      'codehost_repository_not_found',
      /token/,
    ],
    [
      'a token nobody knows',
      { repository: 'acme/app', token: 'stale' },
      422,
      'codehost_token_rejected',
      /expired/,
    ],
    [
      'a token without issues:read',
      { repository: 'acme/app', token: 'weak' },
      422,
      'codehost_access_denied',
      /read access to issues/,
    ],
    [
      'a token that needs single sign-on',
      { repository: 'acme/app', token: 'sso' },
      422,
      'codehost_access_denied',
      /single sign-on at http/,
    ],
    [
      'an address that is not allowed',
      { repository: 'acme/app', apiUrl: 'http://169.254.169.254' },
      403,
      'codehost_url_not_allowed',
      /CODEHOST_API_URLS/,
    ],
    [
      'an address that is none',
      { repository: 'acme/app', apiUrl: 'nonsense' },
      403,
      'codehost_url_not_allowed',
      /Allowed/,
    ],
    [
      'a list that is not there',
      { repository: 'acme/app', listId: '00000000-0000-7000-8000-000000000000' },
      404,
      'list_not_found',
      /List .* not found/,
    ],
  ])('explains the error for %s', async (_, body, status, code, words) => {
    const { id, response } = await connect(body)
    expect([response.status, response.body.code]).toEqual([status, code])
    expect(response.body.detail).toMatch(words)
    expect((await service.get(`/api/projects/${id}/codehost`)).status).toBe(404)
  })

  test('sends requests only to configured URLs, and does not try another when one fails', async () => {
    const elsewhere = await startCodeHost()
    const { response } = await connect({ repository: 'acme/app', apiUrl: elsewhere.url })
    expect(response.body.code).toBe('codehost_url_not_allowed')
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
    const app = await startApp({ env: { CODEHOST_API_URLS: elsewhere.url } })
    const project = await app.given.project()
    const away = await app.put(`/api/projects/${project.id}/codehost`, { repository: 'acme/app' })
    expect([away.status, away.body.code]).toEqual([503, 'codehost_unreachable'])
    expect(away.body.detail).toMatch(/refused the connection/)
    expect(away.body.detail).not.toContain(new URL(elsewhere.url).host)
    expect(away.headers.get('retry-after')).toBe('5')
    await app.close()
  })

  test('follows an earlier rename', async () => {
    const repository = service.host.repository('acme/old-name')
    repository.rename('acme/renamed')
    expect((await connect({ repository: 'acme/old-name' })).response.body).toMatchObject({
      repository: 'acme/renamed',
    })
  })

  test('is rejected in an archived project', async () => {
    const project = await service.given.project({ archivedAt: new Date() })
    const { response } = await connect({ repository: 'acme/app' }, project.id)
    expect([response.status, response.body.code]).toEqual([409, 'project_archived'])
  })
})

describe('disconnecting', () => {
  test('keeps the tasks, and the next sync is rejected', async () => {
    const { id } = await connect({ repository: 'acme/app' })
    await service.sync(id)
    expect((await service.delete(`/api/projects/${id}/codehost`)).status).toBe(204)
    expect((await service.tasksOf(id)).size).toBe(3)
    const [get, again, sync] = [
      await service.get(`/api/projects/${id}/codehost`),
      await service.delete(`/api/projects/${id}/codehost`),
      await service.post(`/api/codehost/${id}/sync`),
    ]
    expect([get.body.code, again.body.code]).toEqual(['connection_not_found', 'connection_not_found'])
    expect([sync.status, sync.body.code]).toEqual([409, 'repository_not_connected'])
    expect((await service.get(`/api/codehost/${id}/syncs`)).body.data).toHaveLength(1)

    await connect({ repository: 'acme/app' }, id)
    expect(await service.sync(id)).toMatchObject({ fetched: 3, issues: { unchanged: 3, created: 0 } })
  })
})

describe('a project', () => {
  test('shows its repository and the latest run of this connection', async () => {
    const { project, repository, sync } = await service.connected({}, 2)
    const before = (await service.get(`/api/projects/${project.id}`)).body.codehost
    expect(before).toEqual({
      repository: repository.name,
      apiUrl: service.host.url,
      connectedAt: expect.any(String),
      lastRun: null,
    })
    await sync()
    const run = await sync()
    const { data } = (await service.get('/api/projects?limit=200')).body
    const listed = data.find(({ id }: { id: string }) => id === project.id)
    expect(listed.codehost).toEqual({ ...before, lastRun: run })
    expect((await service.get(`/api/projects/${project.id}`)).body.codehost.lastRun).toEqual(run)
    await service.put(`/api/projects/${project.id}/codehost`, { repository: 'acme/app', schedule: 'off' })
    expect((await service.get(`/api/projects/${project.id}`)).body.codehost.lastRun).toBeNull()
  })
})
