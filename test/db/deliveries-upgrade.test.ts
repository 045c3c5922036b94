import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { startPushWorker } from '../../src/jobs/push.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { HOST_TOKEN, PUBLIC_URL, repositoryOf, STORED } from '../dumps/fill.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'
import { deliver as deliverPush } from '../support/code-host-deliveries.ts'
import { passTime, replaceDatabaseClock } from '../support/database-clock.ts'
import { type Dump, loadDump, type SentPush } from '../support/dumps.ts'
import { sender } from '../support/feedback.ts'
import { emptyDatabase, withAdmin } from '../support/postgres.ts'
import { processPending } from '../support/source-backlog.ts'
import { deliver } from '../support/sources.ts'

/** The last version with a table for each receiver. */
const VERSION = '0057'

const MINUTE_MS = 60_000

let database: Awaited<ReturnType<typeof emptyDatabase>>
let host: CodeHostFake
let dump: Required<Dump>
let service: TestApp
/** What was stored before the upgrade, and after it. */
let before: Stored
let after: Stored

beforeAll(async () => {
  database = await emptyDatabase()
  const { connectionString } = database
  host = await startCodeHost({ tokens: { [HOST_TOKEN]: {} } })
  repositoryOf(host)
  const urls = { hostUrl: host.url, receiverUrl: 'http://127.0.0.1:9' }
  // Cast: this version has all that a dump can have.
  dump = (await loadDump(VERSION, { connectionString, ...urls })) as Required<Dump>
  before = await storedIn(connectionString, {
    ids: 'select id from feedback_events union all select id from source_events union all select id from codehost_deliveries',
    pushes: 'select id, attempts, next_attempt_at from codehost_deliveries',
    backlog: 'select event_id as id, position, body, due_at from source_backlog',
  })
  await migrate(connectionString)
  after = await storedIn(connectionString, {
    ids: 'select id from deliveries',
    pushes: `select id, attempts, next_attempt_at from deliveries where receiver = 'codehost'`,
    backlog: 'select delivery_id as id, position, body, due_at from source_backlog',
  })
  // As if it had been upgraded right away.
  const ageMs = Date.now() - Date.parse(dump.madeAt)
  await replaceDatabaseClock(connectionString)
  const env = { ENCRYPTION_KEY: dump.encryptionKey, CODEHOST_API_URLS: host.url, PUBLIC_URL }
  const clock = { ...systemClock(), now: () => new Date(Date.now() - ageMs) }
  service = await startApp({ connectionString, env, clock })
  await passTime(service, -ageMs)
})
afterAll(async () => {
  await service?.close()
  await host?.close()
  await database?.drop()
})

describe('what had arrived before the deliveries had one table', () => {
  test('keeps its ids, attempts, and due times', () => {
    expect(before.pushes.map(({ attempts }) => attempts).toSorted()).toEqual([0, 1])
    expect(before.backlog).toHaveLength(1)
    expect(after).toEqual(before)
  })

  test('is known if it is sent again, while it is pending, too', async () => {
    const made = await madeUntilNow()
    const { feedback, source, pending, pushes } = dump

    expect(await sender(service.url, dump.webhookSecret)(feedback.event)).toMatchObject({
      status: 200,
      body: { duplicate: true, taskId: feedback.taskId },
    })
    expect(await send({ source, ...STORED })).toMatchObject({ status: 200, body: { duplicate: true } })
    expect(await send(pending)).toMatchObject({
      status: 202,
      body: { outcome: 'pending', duplicate: true, deliveryId: before.backlog[0]?.id },
    })
    expect(await push(pushes.applied)).toMatchObject({ status: 202, body: { duplicate: true } })
    expect(await push(pushes.waiting)).toMatchObject({ status: 202, body: { duplicate: true } })
    expect(await madeUntilNow()).toEqual(made)
  })

  test('is processed if it was pending, once', async () => {
    const { tasks, deliveries } = await madeUntilNow()
    await passTime(service, MINUTE_MS)
    await processPending(service)
    const logger = pino({ level: 'silent' })
    const worker = startPushWorker({ push: service.service.push, logger, pollMs: 200 })
    await vi.waitFor(async () => expect(await outcomesOf('codehost')).toEqual(['updated', 'updated']), {
      timeout: 10_000,
    })
    await worker.stop()

    const { source, payload } = dump.pending
    const titles = await service.query('select title from tasks where source_id = $1', [source.id])
    expect(titles).toEqual([{ title: payload.title }])
    expect(await outcomesOf('source')).toEqual(['accepted', 'accepted', 'rejected'])
    expect(await send(dump.pending)).toMatchObject({ status: 200, body: { duplicate: true } })
    expect(await push(dump.pushes.waiting)).toMatchObject({ status: 202, body: { duplicate: true } })
    expect(await madeUntilNow()).toEqual({ tasks: tasks + 1, deliveries })
  })
})

interface Stored {
  ids: { id: string }[]
  pushes: { id: string; attempts: number; next_attempt_at: Date | null }[]
  backlog: { id: string; position: number; body: Buffer; due_at: Date }[]
}

const storedIn = (connectionString: string, queries: Record<keyof Stored, string>): Promise<Stored> =>
  withAdmin(connectionString, async (client) => {
    const read = async (query: string) =>
      (await client.query(`select * from (${query}) as stored order by id`)).rows
    const { ids, pushes, backlog } = queries
    return { ids: await read(ids), pushes: await read(pushes), backlog: await read(backlog) }
  })

const send = (delivery: Pick<Parameters<typeof deliver>[1], 'source' | 'payload' | 'id'>) =>
  deliver(service, { ...delivery, at: service.clock.now() })

function push({ delivery, deliveryId }: SentPush) {
  const { secret, url } = dump.pushes.webhook
  return deliverPush({ secret, url: service.url + new URL(url).pathname }, delivery, { deliveryId })
}

async function madeUntilNow() {
  const [counted] = await service.query(
    'select (select count(*)::int from tasks) as tasks, (select count(*)::int from deliveries) as deliveries',
  )
  return counted as { tasks: number; deliveries: number }
}

async function outcomesOf(receiver: string): Promise<string[]> {
  const rows = await service.query('select outcome from deliveries where receiver = $1 order by 1', [
    receiver,
  ])
  return rows.map(({ outcome }) => outcome)
}
