import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let first: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service: first, second } = instances)
})
afterAll(() => instances.close())

/** Sends requests until one is refused; returns how long that took. */
async function refusedAfter(ask: () => Promise<{ status: number }>): Promise<number> {
  const start = performance.now()
  while ((await ask()).status !== 401) {
    if (performance.now() - start > 10_000) throw new Error('It is still let in.')
  }
  return performance.now() - start
}

// Repeated where the machine was too busy to measure 100 ms.
describe('two instances on one database', { retry: 3 }, () => {
  test('a revoked key is rejected by the other one within 100 ms', async () => {
    const key = (await first.post('/api/keys', { name: 'x' })).body
    expect((await second.get('/api/me', { key: key.key })).status).toBe(200)

    await first.delete(`/api/keys/${key.id}`)
    expect(await refusedAfter(() => second.get('/api/me', { key: key.key }))).toBeLessThan(100)
  })

  test('an ended session is rejected by the other one within 100 ms', async () => {
    const session = await first.post('/api/sessions', { key: first.adminKey }, { key: null })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const ask = () => second.get('/api/me', { key: null, headers: { cookie } })
    expect((await ask()).status).toBe(200)

    await first.delete(`/api/sessions/${session.body.id}`)
    expect(await refusedAfter(ask)).toBeLessThan(100)
  })

  test('when the notice is lost, a revoked key is rejected within seconds', async () => {
    const key = (await first.post('/api/keys', { name: 'x' })).body
    expect((await second.get('/api/me', { key: key.key })).status).toBe(200)

    // As an instance would that dies between the write and the notice.
    await first.query('update api_keys set revoked_at = now() where id = $1', [key.id])
    expect(await refusedAfter(() => second.get('/api/me', { key: key.key }))).toBeLessThan(5_000)
  })

  test('notices arrive again after the connection was cut', async () => {
    const [{ count }] = await first.query(
      "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'inlet listen' and datname = current_database()",
    )
    expect(Number(count)).toBe(2)
    await new Promise((done) => setTimeout(done, 1_500))

    const key = (await first.post('/api/keys', { name: 'x' })).body
    expect((await second.get('/api/me', { key: key.key })).status).toBe(200)
    await first.delete(`/api/keys/${key.id}`)
    expect(await refusedAfter(() => second.get('/api/me', { key: key.key }))).toBeLessThan(100)
  })
})
