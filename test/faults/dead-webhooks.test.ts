import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import type { WebhookWithSecret } from '../../src/schemas/webhook.ts'
import { REBINDING, startDeadReceivers } from '../support/dead-receivers.ts'
import { reportFault } from '../support/fault-report.ts'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type Received, SENDING_ENV, startReceiver, verify } from '../support/webhooks.ts'

const DEAD = 19
const TYPES = ['task.created', 'task.updated']
const BURST = 10_000
const WRITERS = 2
/** Tasks of a request; each of them is created, and changed. */
const BATCH = 100
/** Changes a second, and for how long, at a rate that two cores carry. */
const PACED = { perSecond: 500, seconds: 10 }
const MAX_P95_MS = 2_000
/** Of two equal bursts on a busy machine, one usually takes up to twice as long. */
const NOISE = 2
/** A stall of the machine may lengthen one of two bursts further, but what delays every burst delays one of each pair. */
const MAX_PAIRS = 3

afterEach(cleanUp)

test(`${DEAD} dead receivers of ${DEAD + 1} do not delay the other one in a burst of ${BURST} changes`, {
  timeout: 240_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const inlet = spawnInlet({ env: { DATABASE_URL: connectionString, ...SENDING_ENV, ...REBINDING } })
  const url = await inlet.url
  const receiver = await startReceiver()
  const dead = await startDeadReceivers()
  const deadAt = (n: number) => dead.receivers[n % dead.receivers.length]

  const { listId } = await call('POST', '/api/tasks', { title: 'First' })
  const healthy = await createWebhook('Healthy', receiver.url)
  await p95Of(() => burst(1_000))

  const webhooks: WebhookWithSecret[] = []
  const pairs: { alone: number; beside: number }[] = []
  while (pairs.length < MAX_PAIRS && !pairs.some(isUndelayed)) {
    for (const { id } of webhooks.splice(0)) await call('DELETE', `/api/webhooks/${id}`)
    const alone = await p95Of(() => burst(BURST))
    for (let n = 0; n < DEAD; n++)
      webhooks.push(await createWebhook(`Dead ${n}`, deadAt(n)?.url(`first-${pairs.length}-${n}`) ?? ''))
    pairs.push({ alone, beside: await p95Of(() => burst(BURST)) })
  }
  // With new URLs, they are all sent to again.
  for (const [n, { id }] of webhooks.entries())
    await call('PATCH', `/api/webhooks/${id}`, { url: deadAt(n)?.url(`second-${n}`) })
  const paced = await p95Of(() => burst(PACED.perSecond * PACED.seconds, PACED.perSecond))

  expect(pairs).toSatisfy(() => pairs.some(isUndelayed))
  expect(paced).toBeLessThan(MAX_P95_MS)
  for (const [n, { id }] of webhooks.entries()) await expectTried(id, deadAt(n)?.error)
  expect(dead.reboundConnections()).toBe(0)
  const { alone, beside } = pairs.at(-1) ?? {}
  reportFault({
    fault: `${DEAD} of ${DEAD + 1} webhooks dead`,
    times: 1,
    note: `95 % of ${BURST} changes, as fast as they can be written, are at the other one within ${beside} ms (alone: ${alone} ms); at ${PACED.perSecond} a second within ${paced} ms`,
  })
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
  await dead.close()
  await receiver.close()
  await drop()

  // biome-ignore lint/suspicious/noExplicitAny: whatever the route returns.
  async function call(method: string, path: string, body?: object): Promise<any> {
    const response = await fetch(url + path, {
      method,
      headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(response.status).toBeOneOf([200, 201, 204])
    return response.status === 204 ? undefined : response.json()
  }

  function createWebhook(name: string, to: string): Promise<WebhookWithSecret> {
    return call('POST', '/api/webhooks', { name, url: to, types: TYPES })
  }

  /** Writes so many changes: as fast as requests go, unless it is paced. */
  async function burst(changes: number, perSecond = Number.POSITIVE_INFINITY): Promise<void> {
    const since = performance.now()
    let written = 0
    const write = async () => {
      while (written < changes) {
        const begin = written
        written += 2 * BATCH
        await sleep(Math.max(0, since + (begin / perSecond) * 1_000 - performance.now()))
        const tasks = Array.from({ length: BATCH }, (_, n) => ({ title: `Task ${begin / 2 + n}` }))
        const { data } = await call('POST', '/api/tasks/bulk', { listId, tasks })
        const ids = data.map(({ id }: { id: string }) => id)
        await call('PATCH', '/api/tasks/bulk', { ids, change: { priority: 'high' } })
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, write))
  }

  /** The 95 % quantile of the time from a change to its arrival. All arrive, in order for each task, and signed. */
  async function p95Of(write: () => Promise<void>): Promise<number> {
    receiver.received.length = 0
    const before = new Set(await idsOfChanges())
    await write()
    const ids = (await idsOfChanges()).filter((id) => !before.has(id))
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(ids.length)
    const received = receiver.received.splice(0)
    for (const each of received) verify(each, healthy.secret)
    expect(received.map(({ body }) => body.data.id).toSorted()).toEqual(ids.toSorted())
    for (const [, types] of typesByTask(received)) expect(types).toEqual(TYPES.slice(0, types.length))
    const delays = received
      .map(({ at, body }) => at - Date.parse(body.data.createdAt))
      .toSorted((a, b) => a - b)
    return delays[Math.floor(delays.length * 0.95)] ?? Number.NaN
  }

  async function idsOfChanges(): Promise<string[]> {
    const client = new pg.Client({ connectionString })
    await client.connect()
    const { rows } = await client.query('select id from activity where type = any($1)', [TYPES])
    await client.end()
    return rows.map(({ id }) => id)
  }

  async function expectTried(id: string, error: string | undefined): Promise<void> {
    const failed = () => call('GET', `/api/webhooks/${id}/deliveries?outcome=failed&limit=1`)
    await expect.poll(failed, { timeout: 30_000 }).toMatchObject({ data: [{ error }] })
  }
})

const isUndelayed = ({ alone, beside }: { alone: number; beside: number }) =>
  beside < Math.max(MAX_P95_MS, NOISE * alone)

/** In the order in which they arrived. */
function typesByTask(received: Received[]): Map<string, string[]> {
  const byTask = Map.groupBy(received, ({ body }) => body.data.taskId)
  return new Map([...byTask].map(([id, each]) => [id, each.map(({ body }) => body.type)]))
}
