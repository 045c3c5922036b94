import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { startCodeHost } from '../support/code-host.ts'
import { pathOf, sent, withApps } from '../support/connecting-apps.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { settled } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
  service.host.repository('acme/private', { isPrivate: true }).fill(2)
})
afterEach(() => service.host.onResponse(() => {}))
afterAll(() => service.close())

const { project, tokenRequests } = withApps(() => service)

describe('tokens of an installation', () => {
  test('are renewed when one expires in the middle of a run', async () => {
    const app = service.host.app()
    const repository = service.host.repository('acme/long', { isPrivate: true })
    repository.fill(450)
    const { project: created, put } = await project()
    await put({ repository: repository.name, app: sent(app) })
    const since = service.host.requests.length
    let pages = 0
    service.host.onResponse(({ url }) => {
      if (url.includes('sort=created') && ++pages % 2 === 0) app.installation.elapsedSeconds += 3_601
    })
    expect(await service.sync(created.id)).toMatchObject({ status: 'completed', fetched: 450, error: null })
    expect(tokenRequests(since).length).toBeGreaterThanOrEqual(2)
    expect(service.asked(since).filter((line) => line.startsWith('401')).length).toBe(
      tokenRequests(since).filter((line) => line.startsWith('201')).length,
    )
  })

  test('cost an unchanged repository one request, also when the ETag was of an expired token', async () => {
    const app = service.host.app()
    const { project: created, put } = await project()
    await put({ app: sent(app) })
    await service.sync(created.id)
    const statuses = async () => {
      const since = service.host.requests.length
      expect(await service.sync(created.id)).toMatchObject({ status: 'completed', error: null })
      return service.host.requests.slice(since).map(({ method, status }) => `${method} ${status}`)
    }
    expect(await statuses()).toEqual(['GET 304'])
    app.installation.elapsedSeconds += 3_601
    expect(await statuses()).toEqual(['GET 401', 'POST 201', 'GET 200'])
    expect(await statuses()).toEqual(['GET 304'])
  })

  test.each([-900, 900])('are requested although the host’s clock differs by %i s', async (seconds) => {
    const app = service.host.app()
    app.installation.aheadSeconds = seconds
    const { put } = await project()
    expect(await put({ app: sent(app) })).toMatchObject({ status: 200 })
  })

  test('are never shared with a caller who knows only the IDs of the App', async () => {
    const app = service.host.app()
    const [first, second] = await Promise.all([project(), project()])
    service.host.latencyMs = 100
    const [owner, stranger] = await Promise.all([
      first.put({ app: sent(app) }),
      second.put({ app: { ...sent(app), privateKey: service.host.app().privateKey } }),
    ])
    service.host.latencyMs = 0
    expect([owner.status, stranger.status, stranger.body.code]).toEqual([200, 422, 'codehost_token_rejected'])
  })

  test('are never sent to another host with the same IDs', async () => {
    const other = await startCodeHost()
    other.repository('acme/private')
    const env = { CODEHOST_API_URLS: `${service.host.url},${other.url}`, ENCRYPTION_KEY: 'ab'.repeat(32) }
    const { connectionString } = service
    const instance = await startApp({ env, connectionString })
    const [here, there] = await Promise.all([service.given.project(), service.given.project()])
    const app = service.host.app()
    service.host.latencyMs = 100
    const body = { repository: 'acme/private', app: sent(app) }
    const [first, second] = await Promise.all([
      instance.put(pathOf(here.id), { ...body, apiUrl: service.host.url }),
      instance.put(pathOf(there.id), { ...body, apiUrl: other.url }),
    ])
    service.host.latencyMs = 0
    expect([first.status, second.status]).toEqual([200, 422])
    expect(other.requests.map(({ method }) => method)).toEqual(['POST'])
    await instance.close()
    await other.close()
  })
})

describe('write-back with a GitHub App', () => {
  /** An App with a repository of its own that has an issue. */
  async function writing(permissions: object = {}) {
    const app = service.host.app({ login: 'inlet[bot]', ...permissions })
    const repository = service.host.repository(`acme/written-${app.appId}`, { isPrivate: true })
    repository.issue()
    const { project: created, put } = await project()
    const connect = () => put({ repository: repository.name, app: sent(app), writeBack: 'comments' })
    return { app, repository, connect, sync: () => service.sync(created.id), created }
  }

  test('closes issues and posts comments, although people’s permissions are not those of an App', async () => {
    const { repository, connect, sync, created } = await writing()
    expect((await connect()).body).toMatchObject({ writeBack: 'comments' })
    await sync()
    const { id } = (await service.tasksOf(created.id)).get(1)
    await service.post(`/api/tasks/${id}/comments`, { body: 'Fixed', isPublic: true })
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(repository.items.get(1)?.state).toBe('closed')
    expect([...repository.comments.values()].map(({ author }) => author)).toEqual(['inlet[bot]'])
  })

  test('is refused while the App may only read issues', async () => {
    const { app, connect } = await writing({ canWriteIssues: false })
    const refused = await connect()
    expect([refused.status, refused.body.code]).toEqual([422, 'codehost_access_denied'])
    app.installation.permissions = {}
    expect((await connect()).status).toBe(200)
  })

  test('that failed for want of a permission succeeds once it is granted', async () => {
    const { app, repository, connect, sync, created } = await writing()
    await connect()
    await sync()
    app.installation.permissions = { canWriteIssues: false }
    app.installation.elapsedSeconds += 3_601
    const { id } = (await service.tasksOf(created.id)).get(1)
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    expect((await settled(service, id)).writeBack).toMatchObject({
      state: 'failed',
      error: { code: 'codehost_access_denied', message: expect.stringMatching(/GitHub App cannot write/) },
    })
    app.installation.permissions = {}
    await service.post(`/api/tasks/${id}/write-back/retry`)
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(repository.items.get(1)?.state).toBe('closed')
  })
})
