import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { signIn } from '../support/sign-in.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const ID = '00000000-0000-7000-8000-000000000000'

/** An admin key that was rotated: its previous secret in its overlap, and its new one. */
async function rotatedKey(overlapSeconds = 600) {
  const first = (await service.post('/api/keys', { name: 'owner', scopes: ['admin'] })).body
  const session = await signIn(service, first.key)
  const rotated = await service.post(`/api/keys/${first.id}/rotate`, { overlapSeconds }, { key: first.key })
  expect(rotated.status).toBe(200)
  return { id: first.id as string, previous: first.key as string, current: rotated.body, session }
}

/** Every operation that makes, replaces or revokes a key or a secret; the resources need not exist. */
const OPERATIONS: [method: string, path: string, body?: object][] = [
  ['POST', '/api/keys', { name: 'mine for good', scopes: ['admin'] }],
  ['POST', `/api/keys/${ID}/rotate`],
  ['DELETE', `/api/keys/${ID}`],
  ['POST', '/api/webhook-secrets'],
  ['POST', `/api/webhook-secrets/${ID}/rotate`],
  ['DELETE', `/api/webhook-secrets/${ID}`],
  ['POST', '/api/sources'],
  ['POST', `/api/sources/${ID}/rotate`],
  ['DELETE', `/api/sources/${ID}`],
  ['POST', '/api/webhooks'],
  ['POST', `/api/webhooks/${ID}/rotate`],
  ['DELETE', `/api/webhooks/${ID}`],
  ['PUT', `/api/projects/${ID}/codehost`],
  ['POST', `/api/projects/${ID}/codehost/webhook-secret`],
  ['DELETE', `/api/projects/${ID}/codehost`],
]

describe('the previous secret of a rotated key', () => {
  test.each(OPERATIONS)('cannot %s %s, and neither can its sessions', async (method, path, body) => {
    const { previous, current, session } = await rotatedKey()

    for (const caller of [{ key: previous }, session.with]) {
      const refused = await service.call(method, path, { ...caller, body })
      expect(codeOf(refused)).toEqual([403, 'insufficient_scope'])
      expect(refused.body.detail).toMatch(/secret of this key was replaced/)
    }
    for (const caller of [{ key: current.key }, (await signIn(service, current.key)).with]) {
      const allowed = await service.call(method, path, { ...caller, body })
      expect(allowed.status).not.toBe(403)
    }
  })

  test('does not rotate or revoke its own key either', async () => {
    const { id, previous, current } = await rotatedKey()

    expect((await service.post(`/api/keys/${id}/rotate`, {}, { key: previous })).status).toBe(403)
    expect((await service.delete(`/api/keys/${id}`, { key: previous })).status).toBe(403)
    expect((await service.get('/api/me', { key: current.key })).status).toBe(200)
  })

  test('does everything else until it expires, and says when that is', async () => {
    const { previous, current, session } = await rotatedKey()

    expect((await service.get('/api/keys', { key: previous })).status).toBe(200)
    expect((await service.post('/api/tasks', { title: 'work' }, { key: previous })).status).toBe(201)
    for (const caller of [{ key: previous }, session.with]) {
      const me = await service.get('/api/me', caller)
      expect(me.body.expiresAt).toBe(current.previousSecretExpiresAt)
    }
    expect((await service.get('/api/me', { key: current.key })).body.expiresAt).toBeNull()
  })

  test('opens sessions that cannot manage secrets and end with it', async () => {
    const { previous, current } = await rotatedKey()
    const session = await signIn(service, previous)

    expect(session.response.body.expiresAt).toBe(current.previousSecretExpiresAt)
    expect(codeOf(await service.post('/api/keys', { name: 'x' }, session.with))).toEqual([
      403,
      'insufficient_scope',
    ])
  })

  test('takes all of its sessions with it when it expires, whenever they were opened', async () => {
    const { id, previous, current, session: before } = await rotatedKey()
    const during = await signIn(service, previous)
    const after = await signIn(service, current.key)

    // A second rotation ends the secret before the previous one.
    await service.post(`/api/keys/${id}/rotate`, {}, { key: current.key })

    expect(codeOf(await service.get('/api/me', before.with))).toEqual([401, 'invalid_credentials'])
    expect(codeOf(await service.get('/api/me', during.with))).toEqual([401, 'invalid_credentials'])
    expect((await service.get('/api/me', after.with)).status).toBe(200)
    const listed = (await service.get('/api/sessions?limit=200')).body.data
    const ofKey = listed.filter(({ keyId }: { keyId: string }) => keyId === id)
    expect(ofKey.map((session: { id: string }) => session.id)).toEqual([after.response.body.id])
  })
})

test('the session that rotates its own key goes on as long as its secret', async () => {
  const { body: key } = await service.post('/api/keys', { name: 'self', scopes: ['admin'] })
  const session = await signIn(service, key.key)
  await service.post(`/api/keys/${key.id}/rotate`, { overlapSeconds: 600 }, session.with)

  expect((await service.get('/api/tasks', session.with)).status).toBe(200)
  await service.post(`/api/keys/${key.id}/rotate`, { overlapSeconds: 0 })
  expect((await service.get('/api/tasks', session.with)).status).toBe(401)
})
