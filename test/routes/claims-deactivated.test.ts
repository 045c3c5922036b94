import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActorRef } from '../../src/domain/new-task.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'
import { locksOf } from '../support/locks.ts'
import { person } from '../support/people.ts'

let service: TestApp
let given: ReturnType<typeof claiming>
beforeAll(async () => {
  service = await startApp()
  given = claiming(service)
})
afterAll(() => service.close())

const deactivate = (id: string) => service.patch(`/api/users/${id}`, { isActive: false })

describe('a claim of a person who is being deactivated', () => {
  test.each(['a certain task', 'the next task', 'the next task, once'])(
    'of %s is not made',
    async (which) => {
      const locks = locksOf(service)
      const { id: projectId, task } = await given.project()
      const ada = await person(service)
      const [first, other] = [await task(), await task()]
      expect((await service.post(`/api/tasks/${first.id}/claim`, undefined, ada.with)).status).toBe(200)
      // The deactivation ends this claim last.
      const release = await locks.acquire(`select from tasks where id = '${first.id}' for update`)
      const deactivation = deactivate(ada.id)
      await locks.waiting(1, deactivation)

      const headers = which.endsWith('once')
        ? { 'idempotency-key': 'once', ...ada.with.headers }
        : ada.with.headers
      const claim =
        which === 'a certain task'
          ? service.post(`/api/tasks/${other.id}/claim`, undefined, ada.with)
          : service.post('/api/tasks/claim', { projectId }, { ...ada.with, headers })
      await locks.waiting(2, claim)
      await release()

      expect((await deactivation).status).toBe(200)
      const { status, body } = await claim
      expect([status, body.code]).toEqual([401, 'invalid_credentials'])
      for (const { id } of [first, other]) {
        expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject({ status: 'open', claim: null })
      }
    },
  )

  test('that is made first ends with the deactivation', async () => {
    const locks = locksOf(service)
    const { task } = await given.project()
    const ada = await person(service)
    const { id } = await task()
    const release = await locks.acquire(`select from tasks where id = '${id}' for update`)
    const claim = service.post(`/api/tasks/${id}/claim`, undefined, ada.with)
    await locks.waiting(1, claim)
    const deactivation = deactivate(ada.id)
    await locks.waiting(2, deactivation)
    await release()

    expect((await claim).status).toBe(200)
    expect((await deactivation).status).toBe(200)
    expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject({ status: 'open', claim: null })
  })
})

test('of claims that are made together, those of inactive people are skipped, and the others get the first tasks', async () => {
  const { id: projectId, task } = await given.project()
  const tasks = [await task({ priority: 3 }), await task(), await task({ priority: 1 })]
  const [ada, bob] = [await person(service), await person(service)]
  await deactivate(ada.id)
  const key = (name: string): ActorRef => ({ type: 'key', id: null, name })
  const actors = [
    { type: 'user' as const, id: ada.id, name: 'Ada' },
    key('first'),
    { type: 'user' as const, id: bob.id, name: 'Bob' },
    key('last'),
  ]
  const { claims } = service.repos.within({ projectIds: [projectId] })
  const claim = (actors: ActorRef[]) => {
    const now = service.clock.now()
    const rows = actors.map((actor) => ({
      activityId: service.clock.newId(now),
      actor,
      leaseSeconds: 60,
      now,
    }))
    return claims.claimNext(rows, { filter: { projectIds: [projectId] }, skipsExpired: false })
  }

  const made = await claim(actors)

  const claimed = made.tasks.map((json) => json && JSON.parse(json))
  expect(claimed.map((each) => each?.id)).toEqual([undefined, ...tasks.map(({ id }) => id)])
  expect(claimed.map((each) => each?.claim.by.name)).toEqual([undefined, 'first', 'Bob', 'last'])
  expect(made.hasMore).toBe(false)
  const { id } = await task()
  expect((await claim(actors.slice(0, 1))).tasks).toEqual([undefined])
  expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject({ status: 'open', version: 1 })
})
