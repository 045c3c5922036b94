import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
let firstId: string
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
  firstId = (await service.get('/api/me')).body.id
})
afterAll(() => instances.close())

// The two instances were given an admin key each: all but the first are revoked before each test.
beforeEach(async () => {
  await service.query('update api_keys set revoked_at = now() where id <> $1', [firstId])
  for (const app of [service, second]) app.service.access.forget()
})

const revoke = (id: string, key = service.adminKey, app = service) => app.delete(`/api/keys/${id}`, { key })
const idOf = async (key: string) => (await service.get('/api/me', { key })).body.id

describe('the last key that can administer all projects', () => {
  test('cannot be revoked, and continues to work', async () => {
    const response = await revoke(firstId)
    expect([response.status, response.body.code]).toEqual([409, 'last_admin_key'])
    expect((await service.get('/api/me')).status).toBe(200)
  })

  test('is the last also when others are bound, expired, revoked or weaker', async () => {
    const project = await service.given.project()
    await service.given.key({ projectId: project.id })
    await service.given.key({ expiresAt: new Date(Date.now() - 1) })
    await service.given.key({ revokedAt: new Date() })
    await service.given.key({ scopes: ['tasks:read', 'tasks:write', 'rules:write'] })
    expect((await revoke(firstId)).body.code).toBe('last_admin_key')
  })

  test('can be revoked when another one exists, also one that expires some day', async () => {
    const other = await service.given.key({ expiresAt: new Date(Date.now() + 60_000) })
    const id = await idOf(other)
    expect((await revoke(firstId)).status).toBe(204)
    expect((await revoke(id, other)).body.code).toBe('last_admin_key')
    await service.query('update api_keys set revoked_at = null where id = $1', [firstId])
    service.service.access.forget()
  })

  test('does not keep others from being revoked', async () => {
    const project = await service.given.project()
    for (const values of [
      { projectId: project.id },
      { scopes: ['tasks:read'] },
      { expiresAt: new Date(Date.now() + 60_000) },
    ]) {
      expect((await revoke(await idOf(await service.given.key(values)))).status).toBe(204)
    }
    const expired = await service.given.key({ name: 'expired', expiresAt: new Date(Date.now() - 1) })
    expect(expired).toBeTruthy()
    const [row] = await service.query("select id from api_keys where name = 'expired'")
    expect((await revoke(row.id)).status).toBe(204)
  })

  test('is left when two revoke each other on two instances at once', async () => {
    for (let round = 0; round < 8; round++) {
      const other = await service.given.key()
      const otherId = await idOf(other)
      const responses = await Promise.all([
        revoke(otherId, service.adminKey, service),
        revoke(firstId, other, second),
      ])
      const [row] = await service.query(
        "select count(*)::int from api_keys where 'admin' = any(scopes) and project_id is null and revoked_at is null",
      )
      expect([row.count, responses.filter(({ status }) => status === 204)]).toEqual([1, [expect.anything()]])
      await service.query('update api_keys set revoked_at = null where id = $1', [firstId])
      await service.query('update api_keys set revoked_at = now() where id <> $1', [firstId])
      for (const app of [service, second]) app.service.access.forget()
    }
  })
})
