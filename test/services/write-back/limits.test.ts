import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { startCodeHost } from '../../support/code-host.ts'

const MINUTE = 60_000

let host: Awaited<ReturnType<typeof startCodeHost>>
let instances: TestApp[]
let app: TestApp
let elapsed = 0
const clock = { ...systemClock(), now: () => new Date(Date.parse('2026-01-01T00:00:00Z') + elapsed) }

beforeAll(async () => {
  host = await startCodeHost({ tokens: { one: {}, two: {} } })
  const env = { CODEHOST_API_URLS: host.url, ENCRYPTION_KEY: 'ab'.repeat(32) }
  app = await startApp({ env, clock })
  instances = [app, await startApp({ env, clock, connectionString: app.connectionString })]
})
afterAll(async () => {
  for (const instance of instances.toReversed()) await instance.close()
  await host.close()
})

const written = () => host.requests.filter(({ method }) => method === 'PATCH')
const sendDue = () =>
  Promise.all(instances.map(({ service }) => service.outbox.sendDue(new AbortController().signal)))

/** So many tasks that are done, whose issues are open, without any sync. */
async function completed(count: number, token: string) {
  const repository = host.repository(`acme/app-${host.requests.length}`)
  const project = await app.given.project()
  const path = `/api/projects/${project.id}/codehost`
  const { body } = await app.put(path, { repository: repository.name, token, writeBack: 'state' })
  expect(body.writeBack).toBe('state')
  const { data } = (await app.get(`/api/projects/${project.id}/lists`)).body
  const list = { id: data[0].id, projectId: project.id }
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const { number } = repository.issue()
    const task = await app.given.task(list, {
      source: 'codehost',
      codehostKind: 'issue',
      codehostState: 'open',
      codehostNumber: number,
      codehostRepositoryId: repository.id,
    })
    ids.push(task.id)
  }
  for (let i = 0; i < count; i += 100) {
    const change = { ids: ids.slice(i, i + 100), change: { status: 'done' } }
    expect((await app.patch('/api/tasks/bulk', change)).status).toBe(200)
  }
  return { repository }
}

test('two instances write 20 times a minute with a token, whatever they have to write', async () => {
  await completed(15, 'one')
  // The same token, in another project.
  await completed(30, 'one')
  const times: number[] = []
  const work = async () => {
    const before = written().length
    await sendDue()
    for (let i = before; i < written().length; i++) times.push(elapsed)
  }
  for (; times.length < 40; elapsed += MINUTE / 4) await work()
  for (const time of times) {
    expect(times.filter((other) => other >= time && other < time + MINUTE).length).toBeLessThanOrEqual(20)
  }
  await completed(1, 'two')
  await work()
  expect(times).toHaveLength(41)
  for (; elapsed < 5 * MINUTE; elapsed += MINUTE / 4) await work()
  expect(new Set(written().map(({ url }) => url)).size).toBe(46)
  expect(times).toHaveLength(46)
})

test('they write 400 times an hour with a token', async () => {
  const before = written().length
  // In the last 50 minutes.
  await app.query(
    `update codehost_write_limits set sent = array(
       select $1::timestamptz - make_interval(mins => 2 + i / 8) from generate_series(0, 393) as i)`,
    [clock.now()],
  )
  const started = elapsed
  await completed(10, 'one')
  for (; elapsed < started + 9 * MINUTE; elapsed += MINUTE) await sendDue()
  expect(written().length - before).toBe(6)
  for (; elapsed < started + 13 * MINUTE; elapsed += MINUTE) await sendDue()
  expect(written().length - before).toBe(10)
})

test.each([
  ['codehost_unreachable', { status: 500 }],
  ['rate_limited', { status: 429, headers: { 'retry-after': '60' } }],
])('the three days begin with the first attempt, and end with %s', async (code, response) => {
  host.tokens.set(code, {})
  const { repository } = await completed(1, code)
  const writeBack = async () => {
    await sendDue()
    const rows = await app.query('select write_back from tasks where codehost_repository_id = $1', [
      repository.id,
    ])
    return rows[0].write_back
  }
  const pending = { state: 'pending', error: { code } }
  elapsed += 80 * 60 * MINUTE
  host.fault(response, { times: 1_000, matches: ({ url }) => url.includes(`/${repository.id}/`) })
  expect(await writeBack()).toMatchObject(pending)
  elapsed += 71 * 60 * MINUTE
  expect(await writeBack()).toMatchObject(pending)
  elapsed += 2 * 60 * MINUTE
  expect(await writeBack()).toMatchObject({ ...pending, state: 'failed' })
  host.heal()
})

test('a limit of the code host is obeyed, and a write is tried again for three days', async () => {
  elapsed += 2 * 60 * MINUTE
  const { repository } = await completed(1, 'two')
  const tried = () => host.requests.filter(({ url }) => url.includes(`/${repository.id}/issues/`)).length
  host.limitWrites(0, { retryAfter: '300' })
  await sendDue()
  const first = tried()
  elapsed += 4 * MINUTE
  await sendDue()
  expect(tried()).toBe(first)
  host.limitWrites(Number.POSITIVE_INFINITY)
  host.fault({ status: 500 }, { times: 1_000, matches: ({ url }) => url.includes(`/${repository.id}/`) })
  const stateOf = async () =>
    (await app.query('select write_back from tasks where codehost_repository_id = $1', [repository.id]))[0]
  const isPending = { write_back: { state: 'pending', error: { code: 'codehost_unreachable' } } }
  for (let hours = 0; hours < 72; hours++) {
    elapsed += 60 * MINUTE
    await sendDue()
    if (hours < 71) expect(await stateOf()).toMatchObject(isPending)
  }
  expect(await stateOf()).toMatchObject({
    write_back: { state: 'failed', error: { code: 'codehost_unreachable' } },
  })
  expect(tried() - first).toBeLessThanOrEqual(73)
  host.heal()
})

test('a write whose reading took long is not leased by another instance while it is sent', async () => {
  host.tokens.set('slow', {})
  const { repository } = await completed(1, 'slow')
  const signal = new AbortController().signal
  const [one, other] = instances.map(({ service }) => service.outbox)
  let asked: number | undefined
  host.onResponse(async ({ method, url }) => {
    if (asked !== undefined || !url.includes(`/${repository.id}/issues/`)) return
    elapsed += 1.9 * MINUTE
    if (method === 'GET') return
    const before = host.requests.length
    asked = 0
    await other?.sendDue(signal)
    asked = host.requests.length - before
  })
  await one?.sendDue(signal)
  host.onResponse(() => {})
  expect(asked).toBe(0)
  expect(repository.items.get(1)?.state).toBe('closed')
})
