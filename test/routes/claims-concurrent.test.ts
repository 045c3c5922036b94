import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'
import { tally, times } from '../support/concurrent.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
let given: ReturnType<typeof claiming>
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
  given = claiming(service)
})
afterAll(() => instances.close())

const either = (n: number) => (n % 2 ? second : service)

describe('64 callers on two instances', () => {
  test('that claim one task have exactly one winner', async () => {
    const { key, task } = await given.project()
    for (let round = 0; round < 2; round++) {
      const { id } = await task()
      const responses = await times(64, (n) => either(n).post(`/api/tasks/${id}/claim`, undefined, { key }))
      expect(tally(responses)).toEqual({ 200: 1, 409: 63 })
      const winner = responses.find(({ status }) => status === 200)
      for (const { status, body } of responses)
        if (status === 409) expect(body).toMatchObject({ code: 'task_claimed', claim: winner?.body.claim })
    }
  })

  test('that claim the next of a few tasks get each task once, and none is left', async () => {
    const { id: projectId, key, inbox } = await given.project()
    for (const count of [1, 10, 40]) {
      await service.given.tasks(inbox, count)
      const responses = await times(64, (n) => either(n).post('/api/tasks/claim', { projectId }, { key }))
      expect(tally(responses)).toEqual({ 200: count, 204: 64 - count })
      const claimed = responses.flatMap(({ status, body }) => (status === 200 ? [body.id] : []))
      expect(new Set(claimed).size).toBe(count)
    }
  })

  test('that claim whatever is ready, as others release it, never have the same claim', async () => {
    const { id: projectId, key, inbox } = await given.project()
    await service.given.tasks(inbox, 8)
    const held = new Set<string>()
    const numbers = new Set<string>()
    await times(64, async (n) => {
      while (numbers.size < 40) {
        const { status, body } = await either(n).post('/api/tasks/claim', { projectId }, { key })
        if (status !== 200) continue
        const { id, claim } = body
        expect(held.has(id)).toBe(false)
        expect(numbers.has(`${id} ${claim.number}`)).toBe(false)
        held.add(id)
        numbers.add(`${id} ${claim.number}`)
        const notes = `By ${n}`
        const changed = await either(n + 1).patch(
          `/api/tasks/${id}`,
          { notes, claimNumber: claim.number },
          { key },
        )
        expect(changed.body).toMatchObject({ notes, claim: { number: claim.number } })
        held.delete(id)
        const path = `/api/tasks/${id}/claim?number=${claim.number}`
        expect((await either(n).delete(path, { key })).status).toBe(204)
      }
    })
  })
})

describe('a task that another transaction has locked', () => {
  test('does not keep the next claim waiting', async () => {
    const { task, next } = await given.project()
    const [first, other] = [await task({ priority: 3 }), await task()]
    const holder = await service.connect()
    await holder.query(`begin; select from tasks where id = '${first.id}' for update`)
    expect((await next()).body.id).toBe(other.id)
    // The last one is waited for shortly, and then there is none.
    expect((await next()).status).toBe(204)
    await holder.query('rollback')
    holder.release()
    expect((await next()).body.id).toBe(first.id)
  })
})

test('a claim by id waits for another change of the task whose lease is over', async () => {
  const { claimed, claim } = await given.project()
  const { id } = await claimed()
  await given.expire(id)
  const holder = await service.connect()
  await holder.query(`begin; select from tasks where id = '${id}' for update`)
  const again = claim(id)
  await expect
    .poll(
      async () =>
        (
          await service.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          )
        ).length,
    )
    .toBe(1)
  await holder.query('rollback')
  holder.release()
  expect((await again).body.claim.number).toBe(2)
})

describe('a claim with an idempotency key', () => {
  const once = (name: string, key: string) => ({ key, headers: { 'idempotency-key': name } })

  test('is made once, and repeated on the other instance', async () => {
    const { id: projectId, key, inbox } = await given.project()
    await service.given.tasks(inbox, 2)
    const body = { projectId }
    const first = await service.post('/api/tasks/claim', body, once('next', key))
    const again = await second.post('/api/tasks/claim', body, once('next', key))
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const { id } = (await service.post('/api/tasks/claim', body, once('another', key))).body
    expect(id).not.toBe(first.body.id)
  })

  test('is made once if both requests run at the same time', async () => {
    const { id: projectId, key, inbox } = await given.project()
    await service.given.tasks(inbox, 8)
    const responses = await times(8, (n) =>
      either(n).post('/api/tasks/claim', { projectId }, once('race', key)),
    )
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1)
    const claimed = await service.get(`/api/tasks?projectId=${projectId}&claimed=true`)
    expect(claimed.body.data).toHaveLength(1)
  })

  test('is made by id once', async () => {
    const { key, task } = await given.project()
    const { id } = await task()
    const path = `/api/tasks/${id}/claim`
    const first = await service.post(path, { leaseSeconds: 60 }, once('by id', key))
    const again = await second.post(path, { leaseSeconds: 60 }, once('by id', key))
    expect([again.status, again.body]).toEqual([200, first.body])
  })

  test('that found nothing, or was refused, can be repeated with the same key', async () => {
    const { id: projectId, key, inbox, task } = await given.project()
    const claim = () => service.post('/api/tasks/claim', { projectId }, once('later', key))
    expect((await claim()).status).toBe(204)
    await service.given.tasks(inbox, 1)
    expect((await claim()).status).toBe(200)
    const { id } = await task({ status: 'in_progress' })
    const byId = () => service.post(`/api/tasks/${id}/claim`, undefined, once('ready later', key))
    expect((await byId()).status).toBe(409)
    await service.patch(`/api/tasks/${id}`, { status: 'open' })
    expect((await byId()).status).toBe(200)
  })
})

describe('an instance whose clock is wrong', () => {
  test.each([-400, 400])('by %i days makes and judges claims by the clock of the database', async (days) => {
    const { key, claimed, task } = await given.project()
    const right = systemClock()
    const now = () => new Date(Date.now() + days * 86_400_000)
    const wrong = await startApp({
      connectionString: service.connectionString,
      clock: { ...right, now },
    })
    try {
      const { id } = await claimed()
      expect((await wrong.post(`/api/tasks/${id}/claim`, undefined, { key })).body.code).toBe('task_claimed')
      expect((await wrong.get(`/api/tasks/${id}`, { key })).body.claim.number).toBe(1)
      await wrong.service.claims.openExpired()
      expect((await wrong.patch(`/api/tasks/${id}`, { notes: 'x', claimNumber: 1 }, { key })).status).toBe(
        200,
      )

      const other = await wrong.post(`/api/tasks/${(await task()).id}/claim`, undefined, { key })
      const leaseMs = Date.parse(other.body.claim.expiresAt) - Date.now()
      expect(Math.abs(leaseMs - 900_000)).toBeLessThan(20_000)

      await given.expire(id)
      expect((await wrong.patch(`/api/tasks/${id}`, { notes: 'y', claimNumber: 1 }, { key })).body.code).toBe(
        'claim_lost',
      )
      expect((await wrong.post(`/api/tasks/${id}/claim`, undefined, { key })).body.claim.number).toBe(2)
    } finally {
      await wrong.close()
    }
  })
})
