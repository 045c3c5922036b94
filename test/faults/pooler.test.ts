import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { sql } from '../../src/db/drizzle.ts'
import { openDatabase } from '../../src/db/pool.ts'
import type { ApiResponse } from '../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { feedback } from '../support/feedback.ts'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { startInstancesUnderLoad } from '../support/instances-under-load.ts'
import { FEEDBACK_SECRET } from '../support/load-client.ts'
import { measured } from '../support/metrics.ts'
import { POOL_SIZE, startPgBouncer } from '../support/pgbouncer.ts'
import { emptyDatabase, freshDatabase } from '../support/postgres.ts'
import { listenTo } from '../support/stream.ts'

let bouncer: Awaited<ReturnType<typeof startPgBouncer>>
let host: CodeHostFake
const ends: (() => unknown)[] = []

beforeAll(async () => {
  bouncer = await startPgBouncer(inject('postgres').adminUrl)
  host = await startCodeHost({ tokens: { token: {} } })
})
afterAll(async () => {
  await cleanUp()
  await host.close()
  await bouncer.close()
  for (const end of ends.splice(0)) await end()
})

/** A database, and the variables of an instance that uses it through PgBouncer. */
async function pooled(
  database: Awaited<ReturnType<typeof freshDatabase>>,
  direct = database.connectionString,
) {
  ends.push(database.drop)
  const { connectionString } = database
  const urls = { DATABASE_URL: bouncer.urlOf(connectionString), DATABASE_DIRECT_URL: direct }
  const env = {
    ...urls,
    WEBHOOK_SECRET: FEEDBACK_SECRET,
    CODEHOST_API_URLS: host.url,
    ENCRYPTION_KEY: 'ab'.repeat(32),
  }
  return { connectionString, env }
}

interface Sent {
  body?: object
  headers?: Record<string, string>
}

async function send(url: string, call: string, { body, headers = {} }: Sent = {}): Promise<ApiResponse> {
  const [method = '', path = ''] = call.split(' ')
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

test('two instances start on an empty database through PgBouncer, and serve all that one does without', async () => {
  const { connectionString, env } = await pooled(await emptyDatabase())
  const inlets = [spawnInlet({ env }), spawnInlet({ env })]
  const [one = '', other = ''] = await Promise.all(inlets.map(({ url }) => url))
  const both = (count: number) => Array.from({ length: count }, (_, nth) => (nth % 2 ? one : other))

  const listener = await listenTo({ url: other, adminKey: ADMIN_KEY })
  const { body: task } = await send(one, 'POST /api/tasks', { body: { title: 'Überall Zwiebeln' } })
  await listener.until((events) => events.some(({ data }) => data.taskId === task.id))
  listener.close()
  const changed = await send(other, `PATCH /api/tasks/${task.id}`, { body: { notes: 'Seen by both' } })
  expect(changed.body).toMatchObject({ version: 2, notes: 'Seen by both' })

  const tasks = Array.from({ length: 50 }, (_, nth) => ({ title: `Task ${nth}`, labels: ['claimed'] }))
  const made = await send(one, 'POST /api/tasks/bulk', { body: { listId: task.listId, tasks } })
  expect([made.status, made.body.created]).toEqual([201, 50])
  const claims = await Promise.all(
    both(60).map((url) => send(url, 'POST /api/tasks/claim', { body: { label: 'claimed' } })),
  )
  const claimed = claims.filter(({ status }) => status === 200).map(({ body }) => body.id)
  expect([claimed.length, new Set(claimed).size]).toEqual([50, 50])
  expect(claims.filter(({ status }) => status === 204)).toHaveLength(10)

  const headers = { 'idempotency-key': randomUUID() }
  const races = await Promise.all(
    both(20).map((url) => send(url, 'POST /api/tasks', { body: { title: 'Once' }, headers })),
  )
  expect(races.map(({ status }) => status)).toEqual(races.map(() => 201))
  expect(new Set(races.map(({ body }) => body.id)).size).toBe(1)

  const event = { body: feedback(), headers: { authorization: `Bearer ${FEEDBACK_SECRET}` } }
  const received = await send(one, 'POST /api/analytics/webhook', event)
  const repeated = await send(other, 'POST /api/analytics/webhook', event)
  expect([received.status, repeated.status, repeated.body.duplicate]).toEqual([201, 200, true])

  const repository = host.repository('acme/pooled')
  repository.fill(3)
  const { body: project } = await send(one, 'POST /api/projects', { body: { name: 'Synced' } })
  const connection = { repository: repository.name, token: 'token', schedule: 'off' }
  await send(one, `PUT /api/projects/${project.id}/codehost`, { body: connection })
  await send(other, `POST /api/codehost/${project.id}/sync`, { headers: { prefer: 'wait=60' } })
  expect((await send(one, `GET /api/tasks?projectId=${project.id}`)).body.data).toHaveLength(3)

  const found = await send(one, 'GET /api/tasks?q=%C3%BCberall')
  expect(found.body.data).toMatchObject([{ id: task.id }])
  const lines = (await send(other, 'GET /api/export')).body.trim().split('\n')
  expect(lines.filter((line: string) => line.startsWith('{"kind":"task"'))).toHaveLength(56)

  await expectUnchangedSessions(bouncer.urlOf(connectionString))
  for (const { process } of inlets) process.kill('SIGTERM')
  for (const { ended } of inlets) expect(await ended).toMatchObject({ code: 0 })
})

/** All sessions of PgBouncer, at once: nothing of a request stays there for whoever gets the session next. */
async function expectUnchangedSessions(connectionString: string): Promise<void> {
  const clients = Array.from({ length: POOL_SIZE }, () => new pg.Client({ connectionString }))
  try {
    await Promise.all(clients.map((client) => client.connect()))
    await Promise.all(clients.map((client) => client.query('begin')))
    const sessions = await Promise.all(clients.map((client) => client.query(SESSION)))
    const [pids, states] = [
      sessions.map(({ rows }) => rows[0].pid),
      sessions.map(({ rows }) => rows[0].state),
    ]
    expect(new Set(pids).size).toBe(POOL_SIZE)
    expect(states).toEqual(states.map(() => ({ settings: null, statements: 0, locks: 0 })))
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

/** Without the settings that PgBouncer itself sets, to those of each client. */
const SESSION = `
  select pg_backend_pid() as pid, json_build_object(
    'settings', (select json_agg(name) from pg_settings where source = 'session' and name not in
      ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')),
    'statements', (select count(*) from pg_prepared_statements),
    'locks', (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory')) as state`

test('a slow statement through PgBouncer is ended, alone and in a transaction, and the limit stays its own', async () => {
  const { connectionString, env } = await pooled(await freshDatabase())
  const urls = { connectionString: env.DATABASE_URL, directConnectionString: env.DATABASE_DIRECT_URL }
  const db = openDatabase({ ...urls, size: 2, statementMs: 300, onError() {} })
  const usual = openDatabase({ ...urls, size: 1, onError() {} })
  try {
    const slow = sql`select pg_sleep(${60})`
    const cancelled = { cause: expect.objectContaining({ code: '57014' }) }
    await expect(db.execute(slow)).rejects.toMatchObject(cancelled)
    await expect(db.transaction((tx) => tx.execute(slow))).rejects.toMatchObject(cancelled)

    const limit = sql`select current_setting('statement_timeout') as limit`
    expect((await usual.execute(limit)).rows).toEqual([{ limit: '10s' }])
    expect((await usual.transaction((tx) => tx.execute(limit))).rows).toEqual([{ limit: '10s' }])
    await expectUnchangedSessions(bouncer.urlOf(connectionString))
  } finally {
    await Promise.all([db.$client.end(), usual.$client.end()])
  }
})

test('a restart of PgBouncer under load loses nothing and doubles nothing', async () => {
  const { connectionString, env } = await pooled(await freshDatabase())
  const service = await startInstancesUnderLoad({ database: env.DATABASE_URL, instances: 2, env })

  const recoveries = await service.repeat(2, async () => {
    await bouncer.stop()
    await sleep(500)
    await bouncer.start()
  })

  expect([...service.load.tally.retries.keys()]).toEqual(['503'])
  await service.expectNothingLost({
    fault: 'PgBouncer restarted',
    recoveries,
    maxRecoveryMs: 10_000,
    connectionString,
  })
})

test('an instance says which of its two URLs is unavailable', async () => {
  const database = await freshDatabase()
  const proxy = await startDatabaseProxy(database.connectionString)
  const { env } = await pooled(database, proxy.connectionString)
  const inlet = spawnInlet({ env })
  const url = await inlet.url
  const ups = async () => {
    const { body } = await send(url, 'GET /metrics')
    return ['DATABASE_URL', 'DATABASE_DIRECT_URL'].map((name) =>
      measured(body, 'inlet_database_up', { url: name }),
    )
  }
  expect((await send(url, 'GET /readyz')).body).toEqual({ status: 'ok' })
  expect(await ups()).toEqual([1, 1])

  await bouncer.stop()
  const away = await send(url, 'GET /readyz')
  expect(away.status).toBe(503)
  expect(away.body.detail).toBe('The database in DATABASE_URL is unavailable.')
  expect(await ups()).toEqual([0, 1])
  expect((await send(url, 'POST /api/tasks', { body: { title: 'Not now' } })).status).toBe(503)
  await bouncer.start()
  await expect.poll(async () => (await send(url, 'GET /readyz')).status).toBe(200)

  proxy.close()
  await expect
    .poll(async () => (await send(url, 'GET /readyz')).body)
    .toEqual({ status: 'ok', unavailable: ['DATABASE_DIRECT_URL'] })
  expect(await ups()).toEqual([1, 0])
  expect((await send(url, 'POST /api/tasks', { body: { title: 'Now' } })).status).toBe(201)
  expect((await send(url, 'GET /api/export')).status).toBe(503)
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL']) {
    expect(inlet.output()).toMatch(new RegExp(`the database in ${name}\\b`, 'i'))
  }
})

test('a start through PgBouncer without a direct URL, or with that of another database, fails and says why', async () => {
  const { env } = await pooled(await emptyDatabase())
  const another = (await pooled(await emptyDatabase())).env.DATABASE_DIRECT_URL
  const given = [
    { DATABASE_URL: env.DATABASE_URL },
    { ...env, DATABASE_DIRECT_URL: env.DATABASE_URL },
    { ...env, DATABASE_DIRECT_URL: another },
  ]
  const inlets = given.map((env) => spawnInlet({ env }))
  const endings = await Promise.all(inlets.map(({ ended }) => ended))
  expect(endings.map(({ code }) => code)).toEqual([1, 1, 1])
  const [without, pooler, other] = inlets.map((inlet) => inlet.output())
  expect(without).toMatch(/^Inlet cannot start\. The database in DATABASE_URL .*set DATABASE_DIRECT_URL/m)
  expect(pooler).toMatch(/^Inlet cannot start\. The database in DATABASE_DIRECT_URL .*"A connection pooler"/m)
  expect(other).toMatch(/it is not the database that DATABASE_URL leads to$/m)
})
