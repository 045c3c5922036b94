import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const rules = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'get_rules', arguments: {} },
})

const send = (calls: number, key: string) =>
  service.post(
    '/mcp',
    Array.from({ length: calls }, (_, n) => rules(n)),
    { key, headers: { accept: 'application/json, text/event-stream' } },
  )

const waiting = () =>
  service.query(
    `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  )

/** Requests and calls over a limit so far. */
async function refusals(): Promise<number> {
  const { body } = await service.get('/metrics')
  return Number(/^inlet_errors_total\{code="rate_limited"\} (\d+)$/m.exec(body)?.[1] ?? 0)
}

interface Result {
  result: { isError?: boolean; content: { text: string }[] }
}

/** Of server-sent events. */
const resultsIn = (body: string): Result[] =>
  [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json))

test('the calls of a batch run four at a time, and each has its result', async () => {
  const key = await service.given.key()
  const lock = await service.connect()
  try {
    await lock.query('begin; lock table rules in access exclusive mode')
    const batch = send(30, key)
    await expect.poll(waiting).toHaveLength(4)
    // The request and its four calls.
    const requests = Array.from({ length: 95 }, () => service.get('/api/rules', { key }))
    await expect
      .poll(async () => (await service.get('/api/me', { key })).body.code, { timeout: 5_000 })
      .toBe('rate_limited')
    expect((await service.get('/api/me', { key: await service.given.key() })).status).toBe(200)
    await lock.query('rollback')
    await Promise.all(requests)
    const { status, body } = await batch
    expect(status).toBe(200)
    const results = resultsIn(body).map(({ result }) => result)
    expect(results).toHaveLength(30)
    expect(results.filter(({ isError }) => isError)).toEqual([])
  } finally {
    await lock.query('rollback')
    lock.release()
  }
})

test('calls of a batch over the limit of concurrent requests are refused in it, the others have results', async () => {
  const key = await service.given.key()
  const [kept, freed] = [await service.connect(), await service.connect()]
  try {
    await kept.query('begin; lock table rules in access exclusive mode')
    await freed.query('begin; lock table tasks in access exclusive mode')
    const three = Array.from({ length: 3 }, () => service.get('/api/tasks?limit=1', { key }))
    await expect.poll(waiting).toHaveLength(3)
    const others = Array.from({ length: 98 }, () => service.get('/api/rules', { key }))
    // The last one: a hundred are allowed, and all of them wait.
    expect((await Promise.race(others)).body.code).toBe('rate_limited')
    await freed.query('rollback')
    await Promise.all(three)
    // The batch, and two of its calls, have the places of these three.
    const before = await refusals()
    const batch = send(10, key)
    await expect.poll(refusals).toBe(before + 8)
    await kept.query('rollback')
    await Promise.all(others)
    const { status, body } = await batch
    expect(status).toBe(200)
    const results = resultsIn(body).map(({ result }) => result)
    const refused = results.filter(({ isError }) => isError)
    expect([results.length, refused.length]).toEqual([10, 8])
    for (const { content } of refused) expect(content[0]?.text).toContain('At most 100 are allowed')
  } finally {
    for (const lock of [kept, freed]) {
      await lock.query('rollback')
      lock.release()
    }
  }
})
