import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({
    tokens: { operator: {}, stored: {}, own: {} },
    env: { CODEHOST_TOKEN: 'operator' },
  })
  service.host.repository('hr/salaries', { isPrivate: true }).fill(2)
  service.host.repository('acme/app', { isPrivate: true }).fill(1)
})
afterEach(() => service.host.onResponse(() => {}))
afterAll(() => service.close())

const pathOf = (id: string) => `/api/projects/${id}/codehost`

/** A project with an admin key that is bound to it, and a session of that key. */
async function boundTo() {
  const project = await service.given.project()
  const key = await service.given.key({ projectId: project.id })
  const put = (body: object) => service.put(pathOf(project.id), body, { key })
  return { project, key, put }
}

/** Nothing may be asked either: whether a repository is there is for the owner of the token to know. */
async function refused(work: () => Promise<{ status: number; body: { code: string; detail: string } }>) {
  const since = service.host.requests.length
  const response = await work()
  expect(response).toMatchObject({
    status: 403,
    body: {
      code: 'insufficient_scope',
      detail: expect.stringContaining('own token'),
      errors: [{ path: '/token', code: 'required' }],
    },
  })
  return service.asked(since)
}

describe('an admin key bound to a project', () => {
  test.each([
    ['left out', {}],
    ['null', { token: null }],
  ])('cannot connect a repository with the token %s', async (_, token) => {
    const { project, put } = await boundTo()
    expect(await refused(() => put({ repository: 'hr/salaries', ...token }))).toEqual([])
    expect(await refused(() => put({ repository: 'hr/nothing', ...token }))).toEqual([])
    expect((await service.get(pathOf(project.id))).status).toBe(404)
  })

  test('connects one with a token of its own, and syncs with that token', async () => {
    const { project, put, key } = await boundTo()
    expect((await put({ repository: 'acme/app', token: 'own' })).body).toMatchObject({ hasToken: true })
    const since = service.host.requests.length
    const run = await service.post(`/api/codehost/${project.id}/sync`, undefined, {
      key,
      headers: { prefer: 'wait=60' },
    })
    expect(run.body).toMatchObject({ status: 'completed', fetched: 1 })
    const used = service.host.requests.slice(since).map(({ headers }) => headers.authorization)
    expect(new Set(used)).toEqual(new Set(['token own']))
  })

  test.each([
    ['a stored token', { token: 'stored' }],
    ['the token of the operator', {}],
  ])('cannot point %s at another repository', async (_, token) => {
    const { project, put } = await boundTo()
    await service.put(pathOf(project.id), { repository: 'acme/app', schedule: 'off', ...token })
    expect(await refused(() => put({ repository: 'hr/salaries' }))).toEqual([])
    expect(await refused(() => put({ repository: 'hr/salaries', token: null }))).toEqual([])
    expect((await service.get(pathOf(project.id))).body).toMatchObject({ repository: 'acme/app' })
  })

  test('cannot replace the token it connected with by the operator’s token', async () => {
    const { project, put } = await boundTo()
    await put({ repository: 'hr/salaries', token: 'own' })
    expect(await refused(() => put({ repository: 'hr/salaries', token: null }))).toEqual([])
    expect((await service.get(pathOf(project.id))).body).toMatchObject({ hasToken: true })
  })

  test('changes list and schedule of what an unbound key connected', async () => {
    const { project, put } = await boundTo()
    await service.put(pathOf(project.id), { repository: 'acme/app' })
    for (const body of [{ schedule: 'daily' }, { listId: project.inbox.id }, { token: null }]) {
      expect((await put({ repository: 'acme/app', ...body })).status).toBe(200)
    }
    expect((await service.get(pathOf(project.id))).body).toMatchObject({
      repository: 'acme/app',
      schedule: 'daily',
      listId: project.inbox.id,
      hasToken: false,
    })
  })

  test('is rejected when the name now belongs to another repository', async () => {
    const { project, put } = await boundTo()
    const before = service.host.repository('acme/reused')
    await service.put(pathOf(project.id), { repository: 'acme/reused' })
    before.rename('acme/before')
    service.host.repository('acme/reused', { isPrivate: true })
    await refused(() => put({ repository: 'acme/reused', schedule: 'off' }))
    expect((await service.get(pathOf(project.id))).body).toMatchObject({ schedule: 'hourly' })
  })

  test('is rejected when the connection was deleted before the code host responded', async () => {
    const { project, put } = await boundTo()
    await service.put(pathOf(project.id), { repository: 'acme/app' })
    let isDone = false
    service.host.onResponse(async () => {
      if (isDone) return
      isDone = true
      await service.delete(pathOf(project.id))
    })
    await refused(() => put({ repository: 'acme/app', schedule: 'daily' }))
    expect((await service.get(pathOf(project.id))).status).toBe(404)
  })
})

test('an unbound admin key uses the operator’s token, and points a stored one at another repository', async () => {
  const project = await service.given.project()
  const put = (body: object) => service.put(pathOf(project.id), body)
  expect((await put({ repository: 'hr/salaries' })).body).toMatchObject({ hasToken: false })
  await put({ repository: 'hr/salaries', token: 'stored' })
  expect((await put({ repository: 'acme/app' })).body).toMatchObject({
    repository: 'acme/app',
    hasToken: true,
  })
})
