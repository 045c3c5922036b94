import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { accept, PASSWORD, person, type SignedIn } from '../support/people.ts'
import { listenTo } from '../support/stream.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

interface PersonalKey {
  id: string
  key: string
  scopes: string[]
}

async function keyOf(somebody: SignedIn, given: object = {}): Promise<PersonalKey> {
  const made = await service.post('/api/me/keys', { name: 'assistant', ...given }, somebody.with)
  expect([made.status, made.body]).toEqual([201, expect.anything()])
  return made.body
}

const me = async (key: string, app = service) => app.get('/api/me', { key })
const create = (somebody: SignedIn, body: object) =>
  service.post('/api/me/keys', { name: 'k', ...body }, somebody.with)

describe('a personal key', () => {
  test('acts as its person', async () => {
    const ada = await person(service, { name: 'Ada' })
    const { id, key, ...shown } = await keyOf(ada)
    expect(shown).toMatchObject({ userId: ada.id, projectId: null, createdBy: { type: 'user', id: ada.id } })
    expect((await me(key)).body).toMatchObject({ type: 'key', id, user: { id: ada.id }, name: 'Ada' })
    const task = (await service.post('/api/tasks', { title: 'By a script' }, { key })).body
    expect(task.source).toBe('api')
    const { data } = (await service.get(`/api/activity?taskId=${task.id}`)).body
    expect(data[0].actor).toEqual({ type: 'user', id: ada.id, name: 'Ada' })
    const comment = (await service.post(`/api/tasks/${task.id}/comments`, { body: 'Done' }, { key })).body
    expect((await service.patch(`/api/comments/${comment.id}`, { body: 'Not yet' }, ada.with)).status).toBe(
      200,
    )
  })

  test('shares the saved filters of its person, and is listed to its person alone', async () => {
    const [ada, bob] = [await person(service), await person(service)]
    const { key, id } = await keyOf(ada)
    const filter = { name: 'Open', query: { status: ['open'] } }
    await service.post('/api/saved-filters', filter, ada.with)
    expect((await service.get('/api/saved-filters', { key })).body.data).toMatchObject([{ name: 'Open' }])
    expect((await service.get('/api/me/keys', ada.with)).body.data).toMatchObject([{ id, name: 'assistant' }])
    expect((await service.get('/api/me/keys', bob.with)).body.data).toEqual([])
    expect(JSON.stringify((await service.get('/api/me/keys', ada.with)).body)).not.toContain(key)
  })

  test('has a new name from the next request on', async () => {
    const ada = await person(service, { name: 'Ada' })
    const { key } = await keyOf(ada)
    expect((await me(key)).body.name).toBe('Ada')
    await service.patch('/api/me', { name: 'Ada Lovelace' }, ada.with)
    expect((await me(key)).body.name).toBe('Ada Lovelace')
  })
})

describe('the rights of a personal key', () => {
  test('are by default those of the role, except for admin', async () => {
    const [owner, viewer] = [
      await person(service, { role: 'owner' }),
      await person(service, { role: 'viewer' }),
    ]
    expect((await keyOf(viewer)).scopes).toEqual(['tasks:read', 'rules:read'])
    const { scopes } = await keyOf(owner)
    expect([scopes.includes('admin'), scopes.includes('metrics:read')]).toEqual([false, true])
  })

  test.each([
    ['a scope beyond the role', { scopes: ['admin'] }, [403, 'insufficient_scope']],
    ['a project of others', { projectId: UNKNOWN_ID }, [404, 'project_not_found']],
    ['an expiry that has passed', { expiresAt: '2020-01-01T00:00:00Z' }, [400, 'validation_failed']],
    ['no scope', { scopes: [] }, [400, 'validation_failed']],
  ])('are not asked for with %s', async (_, body, code) => {
    const project = await service.given.project()
    const ada = await person(service, { projectIds: [project.id] })
    expect(codeOf(await create(ada, body))).toEqual(code)
  })

  test('are those of both the key and the person, whatever the person becomes', async () => {
    const owner = await person(service, { role: 'owner' })
    const all = await keyOf(owner, { scopes: ['admin'] })
    const read = await keyOf(owner, { scopes: ['tasks:read', 'metrics:read'] })
    expect((await me(all.key)).body.scopes).toEqual(['admin'])
    await service.patch(`/api/users/${owner.id}`, { role: 'member' })
    expect((await me(read.key)).body.scopes).toEqual(['tasks:read'])
    expect((await me(all.key)).body.scopes).toEqual(expect.arrayContaining(['tasks:write', 'codehost:sync']))
    expect(codeOf(await service.get('/api/users', { key: all.key }))).toEqual([403, 'insufficient_scope'])
  })

  test('end with the project that its person no longer has, on every instance', async () => {
    const [one, two] = [await service.given.project(), await service.given.project()]
    const ada = await person(service, { projectIds: [one.id, two.id] })
    const bound = await keyOf(ada, { projectId: one.id })
    const free = await keyOf(ada)
    expect((await me(bound.key)).body.projectIds).toEqual([one.id])
    expect((await second.get(`/api/projects/${one.id}`, { key: free.key })).status).toBe(200)
    expect((await service.get(`/api/projects/${two.id}`, { key: bound.key })).status).toBe(404)
    await service.patch(`/api/users/${ada.id}`, { projectIds: [two.id] })
    const seen = async () => [
      codeOf(await me(bound.key, second)),
      (await second.get(`/api/projects/${one.id}`, { key: free.key })).status,
    ]
    await expect.poll(seen, { timeout: 2_000 }).toEqual([[401, 'invalid_credentials'], 404])
    await service.patch(`/api/users/${ada.id}`, { projectIds: [one.id, two.id] })
    expect((await me(bound.key)).status).toBe(200)
  })

  test('end its stream when they change', async () => {
    const ada = await person(service)
    const { key } = await keyOf(ada)
    const stream = await listenTo(second, { headers: { 'x-api-key': key } })
    await service.patch(`/api/users/${ada.id}`, { role: 'viewer' })
    await expect.poll(() => stream.isEnded, { timeout: 2_000 }).toBe(true)
    expect((await me(key)).body.scopes).toEqual(['tasks:read', 'rules:read'])
  })
})

describe('a personal key ends', () => {
  test('when it is revoked, and never with the key of another', async () => {
    const [ada, bob] = [await person(service), await person(service)]
    const { id, key } = await keyOf(ada)
    expect(codeOf(await service.delete(`/api/me/keys/${id}`, bob.with))).toEqual([404, 'key_not_found'])
    expect((await service.delete(`/api/me/keys/${id.toUpperCase()}`, ada.with)).status).toBe(204)
    expect(codeOf(await me(key))).toEqual([401, 'invalid_credentials'])
    await expect.poll(async () => (await me(key, second)).status, { timeout: 2_000 }).toBe(401)
    expect(codeOf(await service.delete(`/api/me/keys/${id}`, ada.with))).toEqual([404, 'key_not_found'])
  })

  test('when its person is deactivated, for good', async () => {
    const ada = await person(service, { role: 'owner' })
    const { key } = await keyOf(ada)
    const made = (await service.post('/api/keys', { name: 'for CI' }, ada.with)).body
    const { body } = await service.patch(`/api/users/${ada.id}`, { isActive: false })
    expect(body.keysToRotate).toEqual([{ id: made.id, name: 'for CI' }])
    await expect.poll(async () => (await me(key, second)).status, { timeout: 2_000 }).toBe(401)
    await service.patch(`/api/users/${ada.id}`, { isActive: true })
    expect((await me(key)).status).toBe(401)
  })

  test('when its person gets a new password by an invite, as the invites of the person do', async () => {
    const ada = await person(service, { role: 'owner' })
    const { key } = await keyOf(ada)
    const made = (await service.post('/api/invites', { name: 'Eve', role: 'viewer' }, ada.with)).body
    const { secret } = (await service.post('/api/invites', { userId: ada.id })).body
    expect((await accept(service, { secret, password: `${PASSWORD} 2` })).status).toBe(201)
    expect((await me(key)).status).toBe(401)
    // Somebody else may have made it with the old password.
    const late = await accept(service, { secret: made.secret, username: 'eve', password: PASSWORD })
    expect(codeOf(late)).toEqual([410, 'invite_invalid'])
  })

  test('and its previous secret after a rotation', async () => {
    const ada = await person(service)
    const { id, key } = await keyOf(ada)
    const rotated = await service.post(`/api/me/keys/${id}/rotate`, { overlapSeconds: 0 }, ada.with)
    expect([rotated.status, (await me(key)).status, (await me(rotated.body.key)).status]).toEqual([
      200, 401, 200,
    ])
  })
})

describe('a personal key is refused', () => {
  test('a session, and what takes a session of its person', async () => {
    const ada = await person(service, { role: 'owner' })
    const { id, key } = await keyOf(ada, { scopes: ['admin'] })
    expect(codeOf(await service.post('/api/sessions', { key }, { key: null }))).toEqual([403, 'personal_key'])
    for (const call of [
      service.post('/api/me/keys', { name: 'more' }, { key }),
      service.get('/api/me/keys', { key }),
      service.post(`/api/me/keys/${id}/rotate`, {}, { key }),
      service.delete(`/api/me/keys/${id}`, { key }),
      service.call('PUT', '/api/me/password', { key, body: { password: PASSWORD } }),
      service.patch('/api/me', { name: 'Somebody' }, { key }),
    ]) {
      expect(codeOf(await call)).toEqual([403, 'person_required'])
    }
  })

  test('what would be stronger than the key, or outlive it', async () => {
    const ada = await person(service, { role: 'owner' })
    const { key } = await keyOf(ada, { scopes: ['admin'] })
    const made = (await service.post('/api/keys', { name: 'for CI' }, ada.with)).body
    for (const call of [
      service.post('/api/keys', { name: 'mine', scopes: ['admin'] }, { key }),
      service.post(`/api/keys/${made.id}/rotate`, {}, { key }),
      service.post('/api/invites', { name: 'Eve', role: 'owner' }, { key }),
      service.patch(`/api/users/${ada.id}`, { name: 'Somebody' }, { key }),
    ]) {
      expect(codeOf(await call)).toEqual([403, 'personal_key'])
    }
    const ended = await service.delete(`/api/sessions/${ada.sessionId}`, { key: (await keyOf(ada)).key })
    expect(codeOf(ended)).toEqual([404, 'session_not_found'])
  })

  test('when the sign-in is older than ten minutes', async () => {
    const ada = await person(service)
    const { id } = await keyOf(ada)
    await service.query("update sessions set created_at = now() - interval '11 minutes' where id = $1", [
      ada.sessionId,
    ])
    for (const app of [service, second]) app.service.access.forget()
    expect(codeOf(await create(ada, {}))).toEqual([403, 'sign_in_again'])
    expect(codeOf(await service.delete(`/api/me/keys/${id}`, ada.with))).toEqual([403, 'sign_in_again'])
    expect((await service.get('/api/me/keys', ada.with)).status).toBe(200)
  })

  test('beyond 50 of a person, also when they are created at once', async () => {
    const ada = await person(service)
    const made = await Promise.all(Array.from({ length: 55 }, (_, n) => create(ada, { name: `key ${n}` })))
    const codes = made.map(({ status, body }) => body.code ?? status)
    expect(codes.filter((code) => code === 201)).toHaveLength(50)
    expect(codes.filter((code) => code === 'too_many_keys')).toHaveLength(5)
  })
})

describe('owners', () => {
  test('see and revoke the personal keys of all, but get no secret of them', async () => {
    const ada = await person(service)
    const { id, key } = await keyOf(ada)
    const owner = await person(service, { role: 'owner' })
    const listed = async (options: object) =>
      (await service.get('/api/keys?limit=200', options)).body.data.find((one: PersonalKey) => one.id === id)
    expect(await listed(owner.with)).toMatchObject({ userId: ada.id, createdBy: { name: ada.name } })
    expect(codeOf(await service.post(`/api/keys/${id}/rotate`, {}, owner.with))).toEqual([
      403,
      'personal_key',
    ])
    expect((await service.delete(`/api/keys/${id}`, owner.with)).status).toBe(204)
    expect((await me(key)).status).toBe(401)
  })

  test('an admin key of one project neither sees nor revokes them', async () => {
    const project = await service.given.project()
    const ada = await person(service, { projectIds: [project.id] })
    const { id } = await keyOf(ada, { projectId: project.id })
    const bound = (await service.post('/api/keys', { name: 'b', scopes: ['admin'], projectId: project.id }))
      .body
    const { data } = (await service.get('/api/keys?limit=200', { key: bound.key })).body
    expect(data.map((one: PersonalKey) => one.id)).not.toContain(id)
    expect(codeOf(await service.delete(`/api/keys/${id}`, { key: bound.key }))).toEqual([
      404,
      'key_not_found',
    ])
    expect(
      JSON.stringify((await service.get('/api/activity?limit=200', { key: bound.key })).body),
    ).not.toContain(id)
    expect(codeOf(await service.delete(`/api/projects/${project.id}`))).toEqual([409, 'project_in_use'])
  })

  test('keep an admin key for all projects: a personal one does not count', async () => {
    const owner = await person(service, { role: 'owner' })
    await keyOf(owner, { scopes: ['admin'] })
    const { data } = (await service.get('/api/keys?limit=200', owner.with)).body
    const admins = data.filter(
      (one: PersonalKey & { userId: string | null; projectId: string | null }) =>
        one.scopes.includes('admin') && one.userId === null && one.projectId === null,
    )
    const codes = []
    for (const { id } of admins) codes.push(codeOf(await service.delete(`/api/keys/${id}`, owner.with)))
    expect(codes.at(-1)).toEqual([409, 'last_admin_key'])
  })
})
