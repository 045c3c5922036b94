import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../../support/app.ts'
import { startCodeHost } from '../../support/code-host.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ tokens: { first: {}, second: {} } })
  service.host.repository('acme/private', { isPrivate: true }).fill(2)
  service.host.repository('acme/other', { isPrivate: true }).fill(1)
})
afterEach(() => service.host.onResponse(() => {}))
afterAll(() => service.close())

const pathOf = (id: string) => `/api/projects/${id}/codehost`

/** Does something once, while the code host is being asked. */
function whileAsked(work: () => Promise<unknown>) {
  let isDone = false
  service.host.onResponse(async () => {
    if (isDone) return
    isDone = true
    await work()
  })
}

const credentialsSince = (since: number) =>
  service.host.requests.slice(since).map(({ headers }) => headers.authorization)

describe('while the code host is asked', () => {
  test('the list is deleted: 404, and nothing is connected', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    whileAsked(() => service.delete(`/api/lists/${list.id}`))
    const response = await service.put(pathOf(project.id), {
      repository: 'acme/private',
      token: 'first',
      listId: list.id,
    })
    expect([response.status, response.body.code]).toEqual([404, 'list_not_found'])
    expect((await service.get(pathOf(project.id))).status).toBe(404)
  })

  test('another token is stored: a connect without a token does not restore the older one', async () => {
    const project = await service.given.project()
    const body = { repository: 'acme/private', schedule: 'off' }
    await service.put(pathOf(project.id), { ...body, token: 'first' })
    whileAsked(() => service.put(pathOf(project.id), { ...body, token: 'second' }))
    const response = await service.put(pathOf(project.id), { ...body, schedule: 'daily' })
    expect(response.body).toMatchObject({ hasToken: true, schedule: 'daily' })
    const since = service.host.requests.length
    expect(await service.sync(project.id)).toMatchObject({ status: 'completed', fetched: 2 })
    expect(new Set(credentialsSince(since))).toEqual(new Set(['token second']))
  })

  test('the token is removed: it stays removed, and the repository is read without it', async () => {
    const open = service.host.repository('acme/open')
    const project = await service.given.project()
    await service.put(pathOf(project.id), { repository: 'acme/private', token: 'first' })
    whileAsked(() => service.put(pathOf(project.id), { repository: open.name, token: null }))
    const response = await service.put(pathOf(project.id), { repository: 'acme/private' })
    expect([response.status, response.body.code]).toEqual([422, 'codehost_repository_not_found'])
    expect((await service.get(pathOf(project.id))).body).toMatchObject({
      repository: open.name,
      hasToken: false,
    })
  })
})

describe('omitted members', () => {
  test('get their defaults at first, and keep the stored value afterwards', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    const put = (body: object) => service.put(pathOf(project.id), { repository: 'acme/private', ...body })
    const first = await put({ token: 'first' })
    expect(first.body).toMatchObject({ schedule: 'hourly', listId: null, apiUrl: service.host.url })

    await put({ schedule: 'off', listId: list.id })
    const kept = { schedule: 'off', nextRunAt: null, listId: list.id, hasToken: true }
    expect((await put({ token: 'second' })).body).toMatchObject(kept)
    expect((await put({})).body).toMatchObject(kept)
    expect((await put({ repository: 'acme/other' })).body).toMatchObject({
      ...kept,
      repository: 'acme/other',
    })
    expect((await put({ listId: null })).body).toMatchObject({ schedule: 'off', listId: null })
  })

  test('keep the stored code host, also when it is not the first', async () => {
    const other = await startCodeHost()
    other.repository('acme/app')
    const env = { CODEHOST_API_URLS: `${service.host.url},${other.url}` }
    const app = await startApp({ env, connectionString: service.connectionString })
    const project = await app.given.project()
    const put = (body: object) => app.put(pathOf(project.id), { repository: 'acme/app', ...body })
    expect((await put({ apiUrl: other.url })).status).toBe(200)
    expect((await put({ schedule: 'off' })).body).toMatchObject({ apiUrl: other.url, schedule: 'off' })
    await app.close()
    await other.close()
  })

  test('keep what was stored while the code host was asked', async () => {
    const project = await service.given.project()
    const body = { repository: 'acme/private', token: 'first' }
    await service.put(pathOf(project.id), body)
    whileAsked(() => service.put(pathOf(project.id), { ...body, schedule: 'off' }))
    expect((await service.put(pathOf(project.id), body)).body).toMatchObject({ schedule: 'off' })
  })
})

describe('a stored token', () => {
  test('stays with the project when another repository is connected', async () => {
    const project = await service.given.project()
    await service.put(pathOf(project.id), { repository: 'acme/private', token: 'first' })
    const moved = await service.put(pathOf(project.id), { repository: 'acme/other', schedule: 'off' })
    expect(moved.body).toMatchObject({ repository: 'acme/other', hasToken: true })
    const since = service.host.requests.length
    expect(await service.sync(project.id)).toMatchObject({ status: 'completed', fetched: 1 })
    expect(new Set(credentialsSince(since))).toEqual(new Set(['token first']))
  })

  test.each<[string, Record<string, string>, string, RegExp]>([
    ['another', { ENCRYPTION_KEY: 'cd'.repeat(32) }, 'codehost_token_rejected', /ENCRYPTION_KEY.*token/],
    ['no', {}, 'encryption_key_missing', /ENCRYPTION_KEY/],
  ])(
    'is not silently dropped under %s key: connecting fails until the key is fixed',
    async (_, env, code, words) => {
      const { connectionString, host } = service
      const project = await service.given.project()
      const body = { repository: 'acme/private', schedule: 'off' }
      await service.put(pathOf(project.id), { ...body, token: 'first' })
      const [before] = await service.query('select token from codehost_connections where project_id = $1', [
        project.id,
      ])
      const app = await startApp({ env: { CODEHOST_API_URLS: host.url, ...env }, connectionString })
      const since = host.requests.length
      const response = await app.put(pathOf(project.id), body)
      expect([response.status, response.body.code]).toEqual([422, code])
      expect(response.body.detail).toMatch(words)
      expect(host.requests.slice(since)).toEqual([])
      const [after] = await service.query('select token from codehost_connections where project_id = $1', [
        project.id,
      ])
      expect(after).toEqual(before)

      // Taking it away needs no key.
      const open = host.repository(`acme/open-${code}`)
      const without = await app.put(pathOf(project.id), { repository: open.name, token: null })
      expect(without.body).toMatchObject({ hasToken: false })
      await app.close()
    },
  )
})
