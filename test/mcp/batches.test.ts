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
