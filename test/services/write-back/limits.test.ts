import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { everywhere } from '../../../src/repositories/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { startCodeHost } from '../../support/code-host.ts'
import { passTime } from '../../support/database-clock.ts'

const MINUTE = 60_000

let host: Awaited<ReturnType<typeof startCodeHost>>
let instances: TestApp[]
let app: TestApp
let elapsed = 0
/** Clocks of instances that are wrong by hours, in both directions: only the time of the database counts. */
const wrong = (hours: number) => ({
  ...systemClock(),
  now: () => new Date(Date.now() + hours * 60 * MINUTE),
})

beforeAll(async () => {
  host = await startCodeHost({ tokens: { one: {}, two: {} } })
  const env = { CODEHOST_API_URLS: host.url, ENCRYPTION_KEY: 'ab'.repeat(32) }
  app = await startApp({ env, clock: wrong(-5), hasDatabaseClock: true })
  const { connectionString } = app
  instances = [app, await startApp({ env, clock: wrong(7), connectionString })]
})
afterAll(async () => {
  for (const instance of instances.toReversed()) await instance.close()
  await host.close()
})

async function pass(ms: number) {
  elapsed += ms
  await passTime(app, ms)
}

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
  for (; times.length < 40; await pass(MINUTE / 4)) await work()
  for (const time of times) {
    expect(times.filter((other) => other >= time && other < time + MINUTE).length).toBeLessThanOrEqual(20)
  }
  await completed(1, 'two')
  await work()
  expect(times).toHaveLength(41)
  for (; elapsed < 5 * MINUTE; await pass(MINUTE / 4)) await work()
  expect(new Set(written().map(({ url }) => url)).size).toBe(46)
  expect(times).toHaveLength(46)
})

test('they write 400 times an hour with a token', async () => {
  const before = written().length
  // In the last 50 minutes.
  await app.query(
    `update codehost_write_limits set sent = array(
       select clock_timestamp() - make_interval(mins => 2 + i / 8) from generate_series(0, 393) as i)`,
  )
  const started = elapsed
  await completed(10, 'one')
  for (; elapsed < started + 9 * MINUTE; await pass(MINUTE)) await sendDue()
  expect(written().length - before).toBe(6)
  for (; elapsed < started + 13 * MINUTE; await pass(MINUTE)) await sendDue()
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
  await pass(80 * 60 * MINUTE)
  host.fault(response, { times: 1_000, matches: ({ url }) => url.includes(`/${repository.id}/`) })
  expect(await writeBack()).toMatchObject(pending)
  await pass(71 * 60 * MINUTE)
  expect(await writeBack()).toMatchObject(pending)
  await pass(2 * 60 * MINUTE)
  expect(await writeBack()).toMatchObject({ ...pending, state: 'failed' })
  host.heal()
})

test('a limit of the code host is obeyed, and a write is tried again for three days', async () => {
  await pass(2 * 60 * MINUTE)
  const { repository } = await completed(1, 'two')
  const tried = () => host.requests.filter(({ url }) => url.includes(`/${repository.id}/issues/`)).length
  host.limitWrites(0, { retryAfter: '300' })
  await sendDue()
  const first = tried()
  await pass(4 * MINUTE)
  await sendDue()
  expect(tried()).toBe(first)
  host.limitWrites(Number.POSITIVE_INFINITY)
  host.fault({ status: 500 }, { times: 1_000, matches: ({ url }) => url.includes(`/${repository.id}/`) })
  const stateOf = async () =>
    (await app.query('select write_back from tasks where codehost_repository_id = $1', [repository.id]))[0]
  const isPending = { write_back: { state: 'pending', error: { code: 'codehost_unreachable' } } }
  for (let hours = 0; hours < 72; hours++) {
    await pass(60 * MINUTE)
    await sendDue()
    if (hours < 71) expect(await stateOf()).toMatchObject(isPending)
  }
  expect(await stateOf()).toMatchObject({
    write_back: { state: 'failed', error: { code: 'codehost_unreachable' } },
  })
  expect(tried() - first).toBeLessThanOrEqual(73)
  host.heal()
})

test('a write that fails is tried again after 45 seconds, then after twice as long', async () => {
  host.tokens.set('retried', {})
  const { repository } = await completed(1, 'retried')
  const tried = () => written().filter(({ url }) => url.includes(`/${repository.id}/`)).length
  // Whose response is lost: the request may take effect for as long as its timeout.
  host.fault('reset', { times: 2, matches: ({ method }) => method === 'PATCH' })
  await sendDue()
  for (const [seconds, count] of [
    [44, 1],
    [2, 2],
    [88, 2],
    [3, 3],
  ] as const) {
    await pass(seconds * 1_000)
    await sendDue()
    expect(tried()).toBe(count)
  }
  expect(repository.items.get(1)?.state).toBe('closed')
})

test('a token writes once at a time, on all instances together', async () => {
  host.tokens.set('shared', {})
  // Of two projects.
  const before = written().length
  await completed(6, 'shared')
  await completed(6, 'shared')
  let atOnce = 0
  const most: number[] = []
  host.onResponse(async ({ method }) => {
    if (method !== 'PATCH') return
    most.push(++atOnce)
    await sleep(20)
    atOnce--
  })
  while (written().length - before < 12) await sendDue()
  host.onResponse(() => {})
  expect(most).toEqual(Array.from({ length: 12 }, () => 1))
})

test('a token that another transaction uses is skipped, not waited for', async () => {
  host.tokens.set('busy', {})
  await completed(1, 'busy')
  await sendDue()
  const { repository } = await completed(1, 'busy')
  const user = await app.connect()
  await user.query('begin; select from codehost_write_limits for update')
  await sendDue()
  expect(repository.items.get(1)?.state).toBe('open')
  await user.query('rollback')
  user.release()
  await sendDue()
  expect(repository.items.get(1)?.state).toBe('closed')
})

test('a longer wait that is known already is not shortened', async () => {
  const { codehostWriteLimits } = app.repos.within(everywhere)
  const lease = await codehostWriteLimits.take('paused', MINUTE)
  if (!lease) throw new Error('The token is leased.')
  for (const minutes of [3, 1, 2]) await codehostWriteLimits.pause('paused', minutes * MINUTE)
  await codehostWriteLimits.release(lease, 0)
  await pass(2.5 * MINUTE)
  expect(await codehostWriteLimits.take('paused', MINUTE)).toBeUndefined()
  await pass(MINUTE)
  expect(await codehostWriteLimits.take('paused', MINUTE)).toBeDefined()
})

test('a lease that is over, or another worker has now, allows nothing', async () => {
  const { codehostWriteLimits } = app.repos.within(everywhere)
  const lost = await codehostWriteLimits.take('lost', MINUTE)
  expect(await codehostWriteLimits.take('lost', MINUTE)).toBeUndefined()
  await pass(1.1 * MINUTE)
  const lease = await codehostWriteLimits.take('lost', MINUTE)
  if (!lost || !lease) throw new Error('The token is leased.')
  await codehostWriteLimits.release(lost, 0)
  expect(await codehostWriteLimits.reserve(lost, MINUTE)).toBe(false)
  expect(await codehostWriteLimits.reserve(lease, MINUTE)).toBe(true)
  expect(await codehostWriteLimits.take('lost', MINUTE)).toBeUndefined()
})

test('a worker whose token another one has now cancels its request, and the write is made later', async () => {
  await pass(61 * MINUTE)
  const { repository } = await completed(1, 'one')
  host.fault('hang', { matches: ({ method }) => method === 'PATCH' })
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const before = written().length
  const sent = app.service.outbox.sendDue(new AbortController().signal)
  await vi.waitFor(() => expect(written()).toHaveLength(before + 1), { timeout: 10_000 })
  await app.query('update codehost_write_limits set lease = lease + 1')
  const lostAt = performance.now()
  vi.advanceTimersByTime(30_000)
  expect(await sent).toBe(false)
  expect(performance.now() - lostAt).toBeLessThan(5_000)
  vi.useRealTimers()
  host.heal()
  expect(repository.items.get(1)?.state).toBe('open')
  await pass(2.1 * MINUTE)
  await sendDue()
  expect(repository.items.get(1)?.state).toBe('closed')
})

test('the counts of a token that is not used any more are removed', async () => {
  const key = (name: string) => `'unused ${name}'`
  await app.query(`insert into codehost_write_limits (token_key, sent, paused_until, lease_until) values
    (${key('now')}, array[clock_timestamp() - interval '61 minutes'], clock_timestamp(), clock_timestamp()),
    (${key('but lately')}, array[clock_timestamp() - interval '59 minutes'], null, null),
    (${key('but paused')}, '{}', clock_timestamp() + interval '1 minute', null),
    (${key('but leased')}, '{}', null, clock_timestamp() + interval '1 minute')`)
  await app.service.cleanup.cleanUp()
  const rows = await app.query("select token_key from codehost_write_limits where token_key like 'unused%'")
  expect(rows.map(({ token_key }) => token_key).toSorted()).toEqual([
    'unused but lately',
    'unused but leased',
    'unused but paused',
  ])
})

test('a write whose reading took long is not leased by another instance while it is sent', async () => {
  host.tokens.set('slow', {})
  const { repository } = await completed(1, 'slow')
  const signal = new AbortController().signal
  const [one, other] = instances.map(({ service }) => service.outbox)
  let asked: number | undefined
  host.onResponse(async ({ method, url }) => {
    if (asked !== undefined || !url.includes(`/${repository.id}/issues/`)) return
    await pass(1.9 * MINUTE)
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
