import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeOf, type TestApp } from '../support/app.ts'
import { feedback, type sender, startReceiver } from '../support/feedback.ts'

let service: TestApp
let send: ReturnType<typeof sender>
beforeAll(async () => {
  ;({ service, send } = await startReceiver({ connectionWaitMs: 500 }))
})
afterAll(() => service.close())

/** While requests of one key hold all connections that it can have. */
async function whileGreedy(key: string, work: () => Promise<void>) {
  const lock = await service.connect()
  try {
    await lock.query('begin; lock table rules in access exclusive mode')
    const greedy = Array.from({ length: 30 }, () => service.get('/api/rules', { key }))
    await expect
      .poll(() =>
        service.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      )
      .toHaveLength(4)
    await work()
    await lock.query('rollback')
    return await Promise.all(greedy)
  } finally {
    await lock.query('rollback')
    lock.release()
  }
}

test('a key that takes all it can get delays neither other keys nor feedback, and gets 429 alone', async () => {
  const [greedyKey, other] = [await service.given.key(), await service.given.key()]
  const greedy = await whileGreedy(greedyKey, async () => {
    for (let n = 0; n < 5; n++) {
      expect((await service.get('/api/tasks', { key: other })).status).toBe(200)
      expect((await service.post('/api/projects', { name: `P${n}` }, { key: other })).status).toBe(201)
      expect((await service.post('/api/tasks', { title: 'A' }, { key: other })).status).toBe(201)
      expect((await send(feedback())).status).toBe(201)
    }
    // A statement that callers share counts for nobody.
    expect((await service.post('/api/tasks', { title: 'A' }, { key: greedyKey })).status).toBe(201)
    const refused = await service.get('/api/tasks', { key: greedyKey })
    expect(codeOf(refused)).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
  const statuses = Map.groupBy(greedy, ({ status }) => status)
  expect(statuses.get(200)).toHaveLength(4)
  expect(statuses.get(429)).toHaveLength(26)
  expect((await service.get('/api/rules', { key: greedyKey })).status).toBe(200)
})

test('a caller whose credentials are looked up does not wait for a key that takes all it can get', async () => {
  const greedyKey = await service.given.key()
  await whileGreedy(greedyKey, async () => {
    expect((await service.get('/api/me', { key: await service.given.key() })).status).toBe(200)
    expect((await service.get('/api/me', { key: 'inl_unknown' })).status).toBe(401)
    expect((await service.get('/readyz', { key: null })).status).toBe(200)
  })
})
