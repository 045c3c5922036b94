import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setUp } from '../../src/services/setup.ts'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const make = (body: object, key?: string) => service.post('/api/keys', body, key ? { key } : {})
const me = (key: string) => service.get('/api/me', { key })
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

describe('a new key', () => {
  test('is shown once, works at once, and has every scope but admin', async () => {
    const made = await make({ name: '  ci  ' })

    expect(made.status).toBe(201)
    expect(made.body.key).toMatch(/^inl_[0-9a-f]{8}_[\w-]{43}$/)
    expect(made.body.name).toBe('ci')
    expect((await me(made.body.key)).body).toEqual({
      type: 'key',
      id: made.body.id,
      keyId: made.body.id,
      name: 'ci',
      scopes: [
        'tasks:read',
        'tasks:write',
        'rules:read',
        'rules:write',
        'activity:write',
        'codehost:sync',
        'metrics:read',
      ],
      projectId: null,
      projectIds: null,
      user: null,
      expiresAt: null,
    })
    const { body: keys } = await service.get('/api/keys')
    const listed = keys.data.find((key: { id: string }) => key.id === made.body.id)
    expect(listed).toMatchObject({ prefix: made.body.prefix, lastFour: made.body.key.slice(-4) })
    const { body: maker } = await service.get('/api/me')
    expect([made.body, listed].map(({ createdBy }) => createdBy)).toEqual(
      Array(2).fill({ type: 'key', id: maker.id, name: maker.name }),
    )
    const first = keys.data.find((key: { id: string }) => key.id === maker.id)
    expect(first.createdBy).toEqual({ type: 'system', id: null, name: 'Inlet' })
    expect(listed).not.toHaveProperty('key')
  })

  test.each([
    ['a name', {}, '/name'],
    ['scopes that exist', { name: 'x', scopes: ['tasks:read', 'nope'] }, '/scopes/1'],
    ['at least one scope', { name: 'x', scopes: [] }, '/scopes'],
    ['an expiry in the future', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
    ['a project id that is one', { name: 'x', projectId: 'mine' }, '/projectId'],
  ])('rejects %s', async (_, body, path) => {
    const response = await make(body)
    expect([response.status, response.body.errors?.[0].path]).toEqual([400, path])
  })

  test('for an unknown project is rejected by name', async () => {
    const response = await make({ name: 'x', projectId: '00000000-0000-7000-8000-000000000000' })
    expect([response.status, response.body.code]).toEqual([404, 'project_not_found'])
  })

  test('of a bound administrator is bound as well', async () => {
    const project = await service.given.project()
    const other = await service.given.project()
    const admin = await service.given.key({ projectId: project.id })

    expect((await make({ name: 'x' }, admin)).body.projectId).toBe(project.id)
    expect((await make({ name: 'x', projectId: null }, admin)).status).toBe(403)
    expect((await make({ name: 'x', projectId: other.id }, admin)).status).toBe(404)
  })

  test('does not outlive the one that created it', async () => {
    const expiresAt = inAnHour()
    const admin = await service.given.key({ expiresAt: new Date(expiresAt) })

    expect((await make({ name: 'x' }, admin)).body.expiresAt).toBe(expiresAt)
    const later = await make(
      { name: 'x', expiresAt: new Date(Date.parse(expiresAt) + 1).toISOString() },
      admin,
    )
    expect([later.status, later.body.errors[0].path]).toEqual([400, '/expiresAt'])
    expect((await make({ name: 'x', expiresAt: null }, admin)).status).toBe(400)
  })
})

describe('rotation', () => {
  test('keeps the id and accepts the previous secret for a while', async () => {
    const first = (await make({ name: 'rotated' })).body

    const second = await service.post(`/api/keys/${first.id}/rotate`, { overlapSeconds: 60 })
    expect(second.status).toBe(200)
    expect(second.body.id).toBe(first.id)
    expect((await me(first.key)).body.id).toBe(first.id)
    expect((await me(second.body.key)).body.id).toBe(first.id)
    expect(second.body.previousSecretExpiresAt).not.toBeNull()

    const third = (await service.post(`/api/keys/${first.id}/rotate`)).body
    expect((await me(first.key)).status).toBe(401)
    expect((await me(second.body.key)).status).toBe(200)
    expect((await me(third.key)).status).toBe(200)
  })

  test('without overlap ends the previous secret at once', async () => {
    const first = (await make({ name: 'x' })).body
    const second = (await service.post(`/api/keys/${first.id}/rotate`, { overlapSeconds: 0 })).body

    expect((await me(first.key)).body.code).toBe('invalid_credentials')
    expect((await me(second.key)).status).toBe(200)
  })

  test('without overlap ends the sessions of the previous secret', async () => {
    const key = (await make({ name: 'x' })).body
    const session = await service.post('/api/sessions', { key: key.key }, { key: null })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    await service.post(`/api/keys/${key.id}/rotate`, { overlapSeconds: 0 })
    expect((await service.get('/api/me', { key: null, headers: { cookie } })).status).toBe(401)
  })

  test('of a key of the environment does not import its secret again as a new key', async () => {
    const bootstrapKey = 'a-bootstrap-key-of-more-than-32-characters'
    const options = {
      repos: service.repos,
      clock: service.clock,
      randomBytes,
      bootstrapKey,
      hasWebhookSecret: true,
    }
    await setUp(options)
    const { id } = (await me(bootstrapKey)).body
    for (let n = 0; n < 3; n++) await service.post(`/api/keys/${id}/rotate`, { overlapSeconds: 0 })
    await setUp(options)
    expect((await me(bootstrapKey)).status).toBe(401)
    await service.delete(`/api/keys/${id}`)
    await setUp(options)
    expect((await me(bootstrapKey)).status).toBe(401)
  })

  test('of a revoked key is 404', async () => {
    const key = (await make({ name: 'x' })).body
    await service.delete(`/api/keys/${key.id}`)

    const response = await service.post(`/api/keys/${key.id}/rotate`)
    expect([response.status, response.body.code]).toEqual([404, 'key_not_found'])
  })

  test('does not extend the rights of a key', async () => {
    const lasting = (await make({ name: 'lasting', scopes: ['admin'] })).body
    const passing = (await make({ name: 'passing', scopes: ['admin'], expiresAt: inAnHour() })).body

    const response = await service.post(`/api/keys/${lasting.id}/rotate`, {}, { key: passing.key })
    expect([response.status, response.body.code]).toEqual([403, 'insufficient_scope'])
    expect(response.body.detail).toContain('The key is stronger than yours: it is valid for longer')
    expect((await service.post(`/api/keys/${passing.id}/rotate`, {}, { key: passing.key })).status).toBe(200)
  })

  test.each([-1, 1.5, 30 * 86_400 + 1, '60'])('rejects an overlap of %j seconds', async (overlapSeconds) => {
    const key = (await make({ name: 'x' })).body
    expect((await service.post(`/api/keys/${key.id}/rotate`, { overlapSeconds })).status).toBe(400)
  })
})

describe('revocation', () => {
  test('ends the key and its sessions at once and removes it from the list', async () => {
    const key = (await make({ name: 'gone' })).body
    const session = await service.post('/api/sessions', { key: key.key }, { key: null })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const bySession = () => service.get('/api/me', { key: null, headers: { cookie } })
    expect((await bySession()).body.type).toBe('session')

    expect((await service.delete(`/api/keys/${key.id}`)).status).toBe(204)

    expect((await me(key.key)).body.code).toBe('invalid_credentials')
    expect((await bySession()).body.code).toBe('invalid_credentials')
    const ids = (await service.get('/api/keys?limit=200')).body.data.map(({ id }: { id: string }) => id)
    expect(ids).not.toContain(key.id)
    expect((await service.delete(`/api/keys/${key.id}`)).status).toBe(404)
  })
})

describe('the activity log', () => {
  test('records who created, rotated and revoked a key, and never its secret', async () => {
    const key = (await make({ name: 'recorded' })).body
    await service.post(`/api/keys/${key.id}/rotate`)
    await service.delete(`/api/keys/${key.id}`)

    const rows = await service.query(
      "select type, actor_name, metadata from activity where metadata->>'keyId' = $1 order by id",
      [key.id],
    )
    expect(rows.map(({ type }) => type)).toEqual(['key.created', 'key.rotated', 'key.revoked'])
    expect(rows[0]).toMatchObject({ actor_name: 'Bootstrap key', metadata: { keyName: 'recorded' } })
    expect(JSON.stringify(rows)).not.toContain(key.key)
  })
})

describe('last use', () => {
  test('is written in batches', async () => {
    const key = (await make({ name: 'used' })).body
    const listed = async () =>
      (await service.get('/api/keys?limit=200')).body.data.find(({ id }: { id: string }) => id === key.id)
    expect((await listed()).lastUsedAt).toBeNull()

    await me(key.key)
    await service.service.access.flushLastUsed()
    expect(Date.parse((await listed()).lastUsedAt)).toBeGreaterThan(Date.parse(key.createdAt) - 1)
  })
})
