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
  test('without an encryption key, rejects a token and shows the command that generates a key', async () => {
    const app = await startApp({ env: { CODEHOST_API_URLS: service.host.url } })
    const project = await app.given.project()
    const path = `/api/projects/${project.id}/codehost`
    const response = await app.put(path, { repository: 'acme/app', token: 'good' })
    expect([response.status, response.body.code]).toEqual([422, 'encryption_key_missing'])
    expect(response.body.detail).toContain('openssl rand -hex 32')
    expect((await app.put(path, { repository: 'acme/app' })).status).toBe(200)
    await app.close()
  })

  test('keeps the stored token when it is omitted, and deletes it when it is null', async () => {
    const { id } = await connect({ repository: 'acme/private', token: 'good' })
    const kept = await connect({ repository: 'acme/private', schedule: 'daily' }, id)
    expect(kept.response.body).toMatchObject({ hasToken: true, schedule: 'daily' })
    const without = await connect({ repository: 'acme/private', token: null }, id)
    expect(without.response.body.code).toBe('codehost_repository_not_found')
    const open = await connect({ repository: 'acme/app', token: null }, id)
    expect(open.response.body).toMatchObject({ hasToken: false, repository: 'acme/app' })
  })

  test('does not send a stored token to another host', async () => {
    const other = await startCodeHost({ tokens: { good: {} } })
    other.repository('acme/app')
    const app = await startSyncing({ env: { CODEHOST_API_URLS: `${service.host.url},${other.url}` } })
    const project = await app.given.project()
    const path = `/api/projects/${project.id}/codehost`
    await app.put(path, { repository: 'acme/app', token: 'good' })
    const moved = await app.put(path, { repository: 'acme/app', apiUrl: other.url })
    expect(moved.body).toMatchObject({ apiUrl: other.url, hasToken: false })
    expect(other.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true)
    await app.close()
    await other.close()
  })

  test('CODEHOST_TOKEN is used for connections without a token, on the first URL only', async () => {
    const other = await startCodeHost({ tokens: { shared: {} } })
    other.repository('acme/app', { isPrivate: true })
    service.host.tokens.set('shared', {})
    const env = { CODEHOST_API_URLS: `${service.host.url},${other.url}`, CODEHOST_TOKEN: 'shared' }
    const app = await startApp({ env })
    const project = await app.given.project()
    const path = `/api/projects/${project.id}/codehost`
    expect((await app.put(path, { repository: 'acme/private' })).body).toMatchObject({ hasToken: false })
    const elsewhere = await app.put(path, { repository: 'acme/app', apiUrl: other.url })
    expect(elsewhere.body.code).toBe('codehost_repository_not_found')
    await app.close()
    await other.close()
  })
})

describe('a stored token', () => {
  test('appears nowhere in the database or in responses, and cannot be decrypted in another row', async () => {
    const token = 'ghp_averylongsecrettokenofsomebody0123456789'
    service.host.tokens.set(token, {})
    const first = await connect({ repository: 'acme/private', token })
    const second = await connect({ repository: 'acme/private', token: 'good' })
    const rows = await service.query('select * from codehost_connections')
    expect(JSON.stringify(rows)).not.toContain(token)
    for (const path of [`/api/projects/${first.id}`, `/api/projects/${first.id}/codehost`, '/api/projects']) {
      expect(JSON.stringify((await service.get(path)).body)).not.toContain(token)
    }
    await service.query(
      'update codehost_connections set token = (select token from codehost_connections where project_id = $1) where project_id = $2',
      [first.id, second.id],
    )
    expect(await service.sync(second.id)).toMatchObject({
      status: 'failed',
      error: { code: 'codehost_token_unreadable' },
    })
  })
})
