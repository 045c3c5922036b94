import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'
import { TIMESTAMP, UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
let given: ReturnType<typeof claiming>
beforeAll(async () => {
  service = await startApp()
  given = claiming(service)
})
afterAll(() => service.close())

describe('a claim', () => {
  test('is of no task of another project, also one that was moved there meanwhile', async () => {
    const { task } = await given.project()
    const [{ id }, other] = [await task(), await service.given.project()]
    const key = await service.given.key({ projectId: other.id })
    expect(codeOf(await service.post(`/api/tasks/${id}/claim`, {}, { key }))).toEqual([404, 'task_not_found'])

    // What checks the key's project has passed by then.
    const actor = { type: 'key', id: null, name: 'worker' } as const
    const claim = { activityId: UNKNOWN_ID, actor, leaseSeconds: 60, now: new Date() }
    expect(await service.repos.within({ projectIds: [other.id] }).claims.claim(id, claim)).toBeUndefined()
    expect(await service.task(id)).toMatchObject({ status: 'open', claim: null })
  })

  test('sets the task in progress, for the key and until the end of the lease', async () => {
    const { task, claim } = await given.project()
    const { id } = await task()
    const before = Date.now()

    const claimed = await claim(id)

    expect(claimed.status).toBe(200)
    expect(claimed.headers.get('etag')).toBe('"2"')
    const { expiresAt } = claimed.body.claim
    expect(claimed.body).toMatchObject({
      id,
      status: 'in_progress',
      version: 2,
      claim: {
        by: { type: 'key', id: expect.any(String), name: 'worker' },
        number: 1,
        expiresAt: expect.stringMatching(TIMESTAMP),
      },
    })
    const leaseMs = Date.parse(expiresAt) - before
    expect(leaseMs).toBeGreaterThan(899_000)
    expect(leaseMs).toBeLessThan(930_000)
    expect(await service.task(id)).toEqual(claimed.body)
    expect(await given.activityOf(id)).toEqual([
      { type: 'task.claimed', metadata: { number: 1, expiresAt }, actor_type: 'key', actor_name: 'worker' },
    ])
  })

  test.each([30, 86_400])('lasts for %i seconds if that is asked for', async (leaseSeconds) => {
    const { task, key } = await given.project()
    const { id } = await task()
    const before = Date.now()
    const { body } = await service.post(`/api/tasks/${id}/claim`, { leaseSeconds }, { key })
    const leaseMs = Date.parse(body.claim.expiresAt) - before
    expect(Math.abs(leaseMs - leaseSeconds * 1_000)).toBeLessThan(20_000)
  })

  test.each([0, 29, 86_401, 31_536_000, -1, 60.5, '60', null])(
    'with a lease of %j is rejected',
    async (leaseSeconds) => {
      const { task, key, id: projectId } = await given.project()
      const { id } = await task()
      for (const [path, body] of [
        [`/api/tasks/${id}/claim`, { leaseSeconds }],
        ['/api/tasks/claim', { projectId, leaseSeconds }],
        [`/api/tasks/${id}/claim/renew`, { number: 1, leaseSeconds }],
      ] as const) {
        const response = await service.post(path, body, { key })
        expect(codeOf(response)).toEqual([400, 'validation_failed'])
        expect(response.body.errors).toMatchObject([{ path: '/leaseSeconds' }])
      }
      expect(await service.task(id)).toMatchObject({ status: 'open', claim: null })
    },
  )

  test('of a claimed task is refused, and names the claim', async () => {
    const { task, claim, key } = await given.project()
    const { id } = await task()
    const { body: first } = await claim(id)
    for (const other of [service.adminKey, key]) {
      const second = await claim(id, { key: other })
      expect(codeOf(second)).toEqual([409, 'task_claimed'])
      expect(second.body.claim).toEqual(first.claim)
    }
    expect(await service.task(id)).toEqual(first)
  })

  test('of a task that is done or in progress is refused with the reason', async () => {
    const { task, claim } = await given.project()
    const { id } = await task({ status: 'done', completedAt: new Date() })
    const done = await claim(id)
    expect(codeOf(done)).toEqual([409, 'task_not_ready'])
    expect(done.body.detail).toContain('it is done')
    const started = await claim((await task({ status: 'in_progress' })).id)
    expect(codeOf(started)).toEqual([409, 'task_not_ready'])
    expect(started.body.detail).toContain('without a claim')
  })

  test('of a deleted, unknown, or foreign task is 404, and of an archived project 409', async () => {
    const { task, claim } = await given.project()
    const other = await service.given.key({ projectId: (await given.project()).id })
    const { id } = await task()
    expect(codeOf(await claim(id, { key: other }))).toEqual([404, 'task_not_found'])
    await service.delete(`/api/tasks/${id}`)
    expect(codeOf(await claim(id))).toEqual([404, 'task_not_found'])
    expect(codeOf(await claim(UNKNOWN_ID))).toEqual([404, 'task_not_found'])
    const archived = await given.project({ archivedAt: new Date() })
    expect(codeOf(await archived.claim((await archived.task()).id))).toEqual([409, 'project_archived'])
    expect(codeOf(await archived.next())).toEqual([409, 'project_archived'])
  })
})

describe('a task that is blocked by another', () => {
  test('can be claimed once that one is done', async () => {
    const { task, claim, next } = await given.project()
    const first = await task()
    const { id } = await task({ priority: 3, blockedBy: [first.id] })
    const blocked = await claim(id)
    expect(codeOf(blocked)).toEqual([409, 'task_not_ready'])
    expect(blocked.body.detail).toContain('blockedBy')
    expect((await next()).body.id).toBe(first.id)
    expect((await next()).status).toBe(204)
    await service.patch(`/api/tasks/${first.id}`, { status: 'done', claimNumber: 1 })
    expect((await next()).body).toMatchObject({ id, isReady: false })
  })
})

describe('the next claim', () => {
  test('is of the highest priority, and of these of the oldest', async () => {
    const { task, next } = await given.project()
    const ids: string[] = []
    for (const priority of [2, 1, 3, 3, 2]) ids.push((await task({ priority })).id)

    const claimed: string[] = []
    for (let response = await next(); response.status === 200; response = await next()) {
      claimed.push(response.body.id)
    }

    expect(claimed).toEqual([2, 3, 0, 4, 1].map((n) => ids[n]))
  })

  test('is 204 without a body if no task is ready', async () => {
    const { task, next } = await given.project()
    await task({ status: 'done', completedAt: new Date() })
    await task({ status: 'in_progress' })
    await task({ deletedAt: new Date() })
    const response = await next()
    expect([response.status, response.body]).toEqual([204, ''])
    expect(response.headers.get('content-type')).toBeNull()
  })

  test('finds tasks by list, label, and source', async () => {
    const { id, task, next, inbox } = await given.project()
    const list = await service.given.list(id)
    await task({ priority: 3 })
    const labelled = await task({ labels: ['Docs'] })
    const synced = await task({ source: 'codehost', codehostKind: 'issue' })
    const listed = await service.given.task(list)
    const idOf = async (filter: object) => (await next(filter)).body.id
    expect(await idOf({ label: 'docs' })).toBe(labelled.id)
    expect(await idOf({ source: 'codehost' })).toBe(synced.id)
    expect(await idOf({ listId: list.id })).toBe(listed.id)
    expect(await idOf({ projectId: undefined, listId: list.id })).toBeUndefined()
    const other = await given.project()
    expect((await next({ projectId: other.id, listId: inbox.id })).status).toBe(204)
  })

  // Few tasks are sorted, and many are read in the order of their project.
  test.each([0, 2_000])(
    'is the first one of a list, with %i open tasks as of its count',
    async (openCount) => {
      const { id: projectId, task, next } = await given.project()
      const list = await service.given.list(projectId)
      await service.query('update lists set open_count = $1 where id = $2', [openCount, list.id])
      await task({ priority: 3 })
      const ids: string[] = []
      for (const priority of [2, 3, 2]) ids.push((await service.given.task(list, { priority })).id)
      const other = await given.project()
      expect((await next({ projectId: other.id, listId: list.id })).status).toBe(204)
      const claimed: string[] = []
      for (let response = await next({ listId: list.id }); response.status === 200; ) {
        claimed.push(response.body.id)
        response = await next({ listId: list.id })
      }
      expect(claimed).toEqual([1, 0, 2].map((n) => ids[n]))
    },
  )

  test('of an unknown place is 404', async () => {
    const { next } = await given.project()
    expect(codeOf(await next({ projectId: UNKNOWN_ID }))).toEqual([404, 'project_not_found'])
    expect(codeOf(await next({ listId: UNKNOWN_ID }))).toEqual([404, 'list_not_found'])
  })

  test('of a key of one project is of that project', async () => {
    const mine = await given.project()
    const other = await given.project()
    const { id } = await mine.task()
    await other.task({ priority: 3 })
    const key = await service.given.key({ projectId: mine.id })
    const claim = (body: object = {}) => service.post('/api/tasks/claim', body, { key })
    expect(codeOf(await claim({ projectId: other.id }))).toEqual([404, 'project_not_found'])
    expect((await claim()).body.id).toBe(id)
    expect((await claim()).status).toBe(204)
  })

  test('in all projects leaves out archived ones', async () => {
    const archived = await given.project({ archivedAt: new Date() })
    const active = await given.project()
    await archived.task({ priority: 3, source: 'analytics' })
    const { id } = await active.task({ source: 'analytics' })
    const claim = () => service.post('/api/tasks/claim', { source: 'analytics' })
    expect((await claim()).body.id).toBe(id)
    expect((await claim()).status).toBe(204)
  })
})

describe('without tasks:read', () => {
  test('claims return the id, the version, and the claim', async () => {
    const { task, next, claim } = await given.project()
    const key = await service.given.key({ scopes: ['tasks:write'] })
    const claimOf = (number: number) => ({
      by: expect.objectContaining({ type: 'key' }),
      number,
      expiresAt: expect.stringMatching(TIMESTAMP),
    })
    const { id } = await task()
    const options = { key, headers: { 'idempotency-key': 'only once' } }
    const first = await next({}, options)
    expect(first.body).toEqual({ id, version: 2, claim: claimOf(1) })
    expect((await next({}, options)).body).toEqual(first.body)
    const renewed = await service.post(`/api/tasks/${id}/claim/renew`, { number: 1 }, { key })
    expect(renewed.body).toEqual({ id, version: 2, claim: claimOf(1) })
    expect((await service.delete(`/api/tasks/${id}/claim?number=1`, { key })).status).toBe(204)
    expect((await claim(id, { key })).body).toEqual({ id, version: 4, claim: claimOf(2) })
    expect((await claim(id, { key })).body).toMatchObject({ code: 'task_claimed', claim: claimOf(2) })
  })
})

test('tasks are listed by whether they are claimed', async () => {
  const { id, task, claimed } = await given.project()
  const [free, mine, over] = [await task(), await claimed(), await claimed()]
  await given.expire(over.id)
  const list = async (query: string) =>
    (await service.get(`/api/tasks?projectId=${id}&${query}&sort=createdAt`)).body.data
  expect(await list('claimed=true')).toEqual([mine])
  expect((await list('claimed=false')).map((task: { id: string }) => task.id)).toEqual([free.id, over.id])
})
