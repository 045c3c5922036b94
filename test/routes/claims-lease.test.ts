import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'

let service: TestApp
let given: ReturnType<typeof claiming>
beforeAll(async () => {
  service = await startApp()
  given = claiming(service)
})
afterAll(() => service.close())

describe('a lease that is over', () => {
  test('makes the task ready at once, and the next claim logs its end', async () => {
    const { claimed, next, claim } = await given.project()
    for (const claimAgain of [(_: string) => next(), (id: string) => claim(id)]) {
      const { id, claim: first } = await claimed()
      await given.expire(id)
      expect(await service.task(id)).toMatchObject({ claim: null, isReady: true })

      const again = await claimAgain(id)

      expect(again.body).toMatchObject({ id, status: 'in_progress', claim: { number: 2 } })
      const log = await given.activityOf(id)
      expect(log.map(({ type }) => type)).toEqual(['task.claimed', 'task.claim_expired', 'task.claimed'])
      expect(log[1]).toMatchObject({ actor_type: 'system', metadata: { number: 1, by: first.by } })
    }
  })

  test('is opened by the job', async () => {
    const { claimed } = await given.project()
    const { id } = await claimed()
    expect(await service.service.claims.openExpired()).toBe(false)
    expect(await service.task(id)).toMatchObject({ status: 'in_progress', isReady: false, version: 2 })
    await given.expire(id)
    expect(await service.service.claims.openExpired()).toBe(false)
    expect(await service.task(id)).toMatchObject({ status: 'open', claim: null, version: 3 })
    expect((await given.activityOf(id)).map(({ type }) => type)).toEqual([
      'task.claimed',
      'task.claim_expired',
    ])
  })

  test('is not opened while it is locked, and does not keep others from their claims', async () => {
    const { claimed, task, next } = await given.project()
    const [first, second] = [await claimed(), await task()]
    await given.expire(first.id)
    const holder = await service.connect()
    await holder.query(`begin; select from tasks where id = '${first.id}' for update`)
    expect((await next()).body.id).toBe(second.id)
    await holder.query('rollback')
    holder.release()
    expect((await next()).body.id).toBe(first.id)
  })
})

describe('renewing', () => {
  const renew = (id: string, body: object, key: string) =>
    service.post(`/api/tasks/${id}/claim/renew`, body, { key })

  test('extends the lease from now, and changes no version', async () => {
    const { claimed, key } = await given.project()
    const { id, version, claim } = await claimed()
    const renewed = await renew(id, { number: 1, leaseSeconds: 3_600 }, key)
    expect(renewed.status).toBe(200)
    expect(renewed.headers.get('etag')).toBe(`"${version}"`)
    const leaseMs = Date.parse(renewed.body.claim.expiresAt) - Date.now()
    expect(leaseMs).toBeGreaterThan(3_590_000 - 20_000)
    expect(renewed.body.claim).toMatchObject({ by: claim.by, number: 1 })
    expect(await service.task(id)).toEqual(renewed.body)
    expect(await given.activityOf(id)).toHaveLength(1)
  })

  test('needs the key, the number, and a lease that is not over', async () => {
    const { claimed, claim, key } = await given.project()
    const { id } = await claimed()
    const lost = [409, 'claim_lost']
    expect(codeOf(await renew(id, { number: 1 }, service.adminKey))).toEqual(lost)
    expect(codeOf(await renew(id, { number: 2 }, key))).toEqual(lost)
    await given.expire(id)
    expect(codeOf(await renew(id, { number: 1 }, key))).toEqual(lost)
    await claim(id)
    expect(codeOf(await renew(id, { number: 1 }, key))).toEqual(lost)
    expect((await renew(id, { number: 2 }, key)).status).toBe(200)
    expect(codeOf(await renew(id, {}, key))).toEqual([400, 'validation_failed'])
    await service.delete(`/api/tasks/${id}`)
    expect(codeOf(await renew(id, { number: 2 }, key))).toEqual([404, 'task_not_found'])
  })
})

describe('releasing', () => {
  const release = (id: string, number: unknown, key: string) =>
    service.delete(`/api/tasks/${id}/claim?number=${number}`, { key })

  test('opens the task, which is ready again', async () => {
    const { claimed, claim, key } = await given.project()
    const { id } = await claimed()
    expect((await release(id, 1, key)).status).toBe(204)
    expect(await service.task(id)).toMatchObject({ status: 'open', claim: null, version: 3 })
    expect((await given.activityOf(id)).at(-1)).toMatchObject({
      type: 'task.claim_released',
      metadata: { number: 1 },
      actor_name: 'worker',
    })
    expect(codeOf(await release(id, 1, key))).toEqual([409, 'claim_lost'])
    expect((await claim(id)).body.claim.number).toBe(2)
  })

  test('needs the key, the number, and a lease that is not over', async () => {
    const { claimed, key } = await given.project()
    const { id } = await claimed()
    expect(codeOf(await release(id, 1, service.adminKey))).toEqual([409, 'claim_lost'])
    expect(codeOf(await release(id, 7, key))).toEqual([409, 'claim_lost'])
    for (const number of ['', '0', 'x', '9999999999'])
      expect(codeOf(await release(id, number, key))).toEqual([400, 'validation_failed'])
    await given.expire(id)
    expect(codeOf(await release(id, 1, key))).toEqual([409, 'claim_lost'])
  })
})
