import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { repositories } from '../../src/repositories/index.ts'
import { setUp } from '../../src/services/setup.ts'
import { describeSchema } from '../contract/schema.ts'
import { HOST_TOKEN, PUBLIC_URL, repositoryOf } from '../dumps/fill.ts'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'
import { passTime, replaceDatabaseClock } from '../support/database-clock.ts'
import { DUMPS, type Dump, loadDump } from '../support/dumps.ts'
import { sender } from '../support/feedback.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { deliver } from '../support/sources.ts'
import { workerOf } from '../support/syncing.ts'
import { tablesOf } from '../support/tables.ts'
import { type Received, type Receiver, startReceiver } from '../support/webhooks.ts'

describe.each(DUMPS)('a database that version %s left', (name) => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>
  let host: CodeHostFake
  let receiver: Receiver
  let dump: Dump
  let service: TestApp
  /** What the first start left, and the second. */
  let starts: Record<string, unknown>[]
  let schema: string
  /** Before a test changed anything. */
  let served: Dump['served']

  beforeAll(async () => {
    database = await emptyDatabase()
    host = await startCodeHost({ tokens: { [HOST_TOKEN]: {} } })
    repositoryOf(host)
    receiver = await startReceiver()
    const { connectionString } = database
    dump = await loadDump(name, { connectionString, hostUrl: host.url, receiverUrl: receiver.url })
    starts = []
    for (let nth = 0; nth < 2; nth++) {
      await start(connectionString)
      starts.push(await tablesOf(connectionString))
    }
    schema = await describeSchema(new pg.Client({ connectionString }))
    const env = {
      ENCRYPTION_KEY: dump.encryptionKey,
      CODEHOST_API_URLS: host.url,
      WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
      PUBLIC_URL,
    }
    // As if it had been upgraded right away: a lease has not ended, and what is kept for a day is still there.
    const ageMs = Date.now() - Date.parse(dump.madeAt)
    await replaceDatabaseClock(connectionString)
    service = await startApp({ connectionString, env, clock: slowClock(ageMs) })
    await passTime(service, -ageMs)
    served = {}
    for (const path of Object.keys(dump.served)) {
      const { data, ...rest } = (await get(presentPath(path))).body
      served[path] = { ...rest, ...(data && { data: data.filter(isAsOld(dump)) }) }
    }
  })
  afterAll(async () => {
    await service?.close()
    await receiver?.close()
    await host?.close()
    await database?.drop()
  })

  const get = (path: string) => service.get(path, { key: dump.adminKey })

  test('has the schema of a new one', async () => {
    expect(schema).toBe(await readFile(new URL('../contract/schema.sql', import.meta.url), 'utf8'))
  })

  test('has no schema of a job library any more', async () => {
    const schemas = await service.query(
      "select nspname as name from pg_namespace where nspname !~ '^(pg|test)_' order by nspname",
    )
    expect(schemas.map(({ name }) => name)).toEqual(['drizzle', 'information_schema', 'public'])
  })

  test('is not changed by a second start', () => {
    expect(starts[1]).toEqual(starts[0])
  })

  test('is served as before', () => {
    expect(served).toMatchObject(expectedOf(dump))
  })

  test('is searched in full, before and after the background worker has indexed it', async () => {
    const find = (words: string) => get(`/api/tasks?q=${encodeURIComponent(words)}`)
    const findAll = () =>
      Promise.all(
        ['Straße', 'ÄNDERN', '"bulk 4"', 'möwe', 'åsa', 'BUG-1'].map(async (words) => {
          const { body } = await find(words)
          return body.data.map(({ id }: { id: string }) => id)
        }),
      )
    const found = await findAll()
    while (await service.service.tasks.indexTexts());

    expect(found).not.toContainEqual([])
    expect(await findAll()).toEqual(found)
  })

  test('has all its activity in the change feed, and continues it', async () => {
    const { body } = await get('/api/changes?from=start&limit=200')
    const { body: log } = await get('/api/activity?limit=200')
    const ids = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id)

    expect(ids(body).toSorted()).toEqual(ids(log).toSorted())
    const { body: task } = await service.post('/api/tasks', { title: 'New' })
    expect((await get(`/api/changes?cursor=${body.nextCursor}`)).body.data).toMatchObject([
      { type: 'task.created', taskId: task.id },
    ])
  })

  test('accepts its keys, sessions, and secrets, and refuses what was revoked', async () => {
    expect((await service.get('/api/me', { key: dump.key })).body).toMatchObject({
      name: 'CI',
      scopes: ['tasks:read', 'tasks:write'],
    })
    const session = await service.get('/api/me', { key: null, headers: { cookie: dump.session } })
    // From here on, a database knows which one it is: its dump counts as restored, which ends sessions.
    if (name >= '0043') expect(codeOf(session)).toEqual([401, 'invalid_credentials'])
    else expect(session.body).toMatchObject({ type: 'session', name: 'CI' })
    expect((await service.get('/api/me', { key: dump.revokedKey })).status).toBe(401)
  })

  test('does not do again what is repeated', async () => {
    const { path, body, key, id } = dump.idempotent
    const headers = { 'idempotency-key': key }
    const repeated = await service.post(path, body, { key: dump.adminKey, headers })
    if (WITH_DEFAULTS.includes(name)) {
      expect(codeOf(repeated)).toEqual([422, 'idempotency_key_reused'])
    } else {
      expect(repeated.headers.get('idempotency-replayed')).toBe('true')
      expect(repeated.body.id).toBe(id)
    }
    const { event, taskId } = dump.feedback
    const again = await sender(service.url, dump.webhookSecret)(event)
    expect(again.body).toMatchObject({ accepted: true, duplicate: true, taskId })
  })

  test('decrypts its token, and syncs without creating a task twice', async () => {
    const worker = workerOf(service)
    const [{ id }] = (await get('/api/projects')).body.data.filter(
      ({ codehost }: { codehost: unknown }) => codehost,
    )
    const headers = { prefer: 'wait=60' }
    const run = await service.post(`/api/codehost/${id}/sync?mode=full`, undefined, { headers })
    await worker.stop()

    expect(run.body).toMatchObject({
      status: 'completed',
      issues: { created: 0, updated: 0, closed: 0, reopened: 0 },
      pullRequests: { created: 0, updated: 0, closed: 0, reopened: 0 },
      skipped: [],
    })
    expect(run.body.fetched).toBe(3)
  })

  test('decrypts the secrets of its sources and outgoing webhooks', async () => {
    const { source, webhook } = dump
    if (source) {
      const payload = { title: 'The same', id: 7 }
      const { body } = await deliver(service, { source, payload, at: service.clock.now() })
      expect(body).toMatchObject({ accepted: true })
    }
    if (webhook) {
      expect((await service.post(`/api/webhooks/${webhook.id}/test`)).body.outcome).toBe('delivered')
      const [received] = receiver.received
      expect(received?.headers['webhook-signature']).toBe(received && signatureOf(received, webhook.secret))
    }
  })

  test('takes changes', async () => {
    const { id } = dump.idempotent
    const { version } = await service.task(id)
    const done = await service.patch(`/api/tasks/${id}`, { status: 'done', labels: ['new'] })
    expect(done.body).toMatchObject({ status: 'done', labels: ['new'], version: version + 1 })
    expect((await service.post(`/api/tasks/${id}/comments`, { body: 'Done' })).status).toBe(201)
    expect((await get('/api/labels')).body.data).toContainEqual(expect.objectContaining({ name: 'new' }))
  })
})

/** What an official library signs a delivery with, at any time after it. */
function signatureOf({ headers, text }: Received, secret: string): string {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000)
  return new Webhook(secret).sign(String(headers['webhook-id']), at, text)
}

/** They compared requests with their defaults, which are others now: they say so instead of creating a second task. */
const WITH_DEFAULTS = ['0031', '0038', '0042']

/** Loading a dump adds to the activity. */
const isAsOld =
  ({ madeAt }: Dump) =>
  ({ createdAt = madeAt }: { createdAt?: string }) =>
    createdAt <= madeAt

/** Three lists of deliveries became one. */
const presentPath = (path: string) =>
  path
    .replace('/api/analytics/events?', '/api/deliveries?receiver=feedback&')
    .replace('/api/analytics/events/', '/api/deliveries/')
    .replace(/^.api.sources.(.*).events$/, '/api/deliveries?sourceId=$1')

/** A delivery as one of the earlier lists had it. Only `GET /api/deliveries/{id}` has the payload now. */
function presentDelivery({ uuid, deliveryId, taskId, payload, payloadCut, ...delivery }: OldDelivery) {
  const senderId = uuid ?? deliveryId
  if (taskId === undefined) return { ...delivery, senderId }
  return { ...delivery, senderId, tasks: taskId === null ? [] : [{ taskId, created: true }] }
}

interface OldDelivery {
  uuid?: string | null
  deliveryId?: string | null
  taskId?: string | null
  payload: unknown
  payloadCut: boolean
}

/** What a dump's version served, with what later ones changed on purpose. */
function expectedOf({ served }: Dump): Dump['served'] {
  const text = JSON.stringify(served, (_, value) => {
    // People can edit the description of tasks from sources.
    if (value?.source === 'webhook') return { ...value, descriptionReadOnly: false }
    if (value?.payloadCut !== undefined) return presentDelivery(value)
    // A dump that is loaded is a backup that is restored.
    if (value?.disabledReason === null && value.mapping === undefined)
      return { ...value, isActive: false, disabledReason: 'restored' }
    return value
  })
  return JSON.parse(text)
}

/** As `start.ts` starts on a database, without a bootstrap key. */
async function start(connectionString: string): Promise<void> {
  const db = openDatabase({ connectionString, size: 2, onError: () => {} })
  const repos = repositories(db)
  const first = { repos, clock: systemClock(), randomBytes, bootstrapKey: undefined, hasWebhookSecret: false }
  await migrate(connectionString, {
    async prepare() {
      await setUp(first)
    },
  })
  await db.$client.end()
}

/** A clock that is so much behind. */
function slowClock(ms: number): Clock {
  return { ...systemClock(), now: () => new Date(Date.now() - ms) }
}
