import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { retryUntilDeadline } from '../../src/db/retry.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'
import { deliver, type HostWebhook, itemDelivery } from '../support/code-host-deliveries.ts'
import { startDatabase, stopDatabase } from '../support/database-control.ts'
import { SETTINGS } from '../support/embedded-process.ts'
import {
  ADMIN_KEY,
  cleanUp,
  type Inlet,
  newDataDir,
  signalServer,
  spawnInlet,
} from '../support/inlet-process.ts'
import { measured } from '../support/metrics.ts'
import { type JsonRequest, sendJson } from '../support/send-json.ts'

/** A statement may take 10 s, and a response 12 s before the connection counts as dead. */
const MAX_SILENCE_MS = 20_000
const RECOVERY_MS = 5_000

/** Also what must not be in any log. */
const TITLE = 'Do not log what people write'

let dataDir: string
let databaseUrl: string
let inlet: Inlet
let url: string
let host: CodeHostFake

beforeAll(async () => {
  host = await startCodeHost()
  dataDir = await newDataDir()
  const log = { info: () => undefined, warn: () => undefined }
  databaseUrl = (await startEmbedded({ dataDir, log, settings: SETTINGS })).connectionString
})

afterAll(async () => {
  await signalServer(dataDir, 'SIGCONT')
  await cleanUp()
  await host.close()
})

describe('a database that is away', { timeout: 120_000 }, () => {
  test('is waited for at the start', async () => {
    await stopDatabase(dataDir)
    inlet = spawnInlet({
      env: { DATABASE_URL: databaseUrl, CODEHOST_API_URLS: host.url, ENCRYPTION_KEY: 'ab'.repeat(32) },
    })
    while (!inlet.output().includes('waiting for the database')) await sleep(20)

    await startDatabase(dataDir)

    url = await inlet.url
    expect((await call('/api/tasks', { method: 'POST', body: { title: TITLE } })).status).toBe(201)
    expect(await isUpByMetrics()).toBe(1)
  })

  test('is a 503 with Retry-After, and needs no restart when it is available again', async () => {
    await listeningAgain()
    const creates = createWithoutPause()
    await sleep(200)
    await stopDatabase(dataDir)

    for (let second = 0; second < 3; second++) {
      const since = performance.now()
      const responses = await Promise.all([
        call('/api/tasks', { method: 'POST', body: { title: TITLE } }),
        call('/api/tasks'),
        call('/api/tasks', { headers: { 'x-api-key': 'a key that nobody has seen yet' } }),
        call('/readyz'),
      ])
      for (const response of responses) expectUnavailable(response)
      expect(performance.now() - since).toBeLessThan(3_000)
      expect((await call('/healthz')).status).toBe(200)
      await sleep(500)
    }

    expect(await isUpByMetrics()).toBe(0)
    expectUnavailable(await call('/metrics', { headers: { 'x-api-key': 'a key that nobody has seen yet' } }))

    await startDatabase(dataDir)
    for (const response of await creates.stop()) expectUnavailable(response)
    await expectRecovery()
    expect(await isUpByMetrics()).toBe(1)
    expect(measured((await call('/metrics')).body, 'inlet_database_restarts_total')).toBe(1)
  })

  test('is a 503 for a delivery of the code host, which is applied once when it is sent again', async () => {
    await listeningAgain()
    const { repository, project, webhook } = await connected()
    const item = repository.issue({ title: TITLE })
    const opened = itemDelivery(item, { api: host.url, repository: repository.about, action: 'opened' })
    const deliveryId = randomUUID()
    const send = () => deliver(webhook, opened, { deliveryId })
    await stopDatabase(dataDir)

    // Retried for as long as the code host waits, which is 10 s.
    const since = performance.now()
    const { status, body } = await send()
    expect([status, body.code]).toEqual([503, 'unavailable'])
    expect(performance.now() - since).toBeLessThan(10_000)

    const buffered = send()
    await sleep(1_000)
    await startDatabase(dataDir)
    expect((await buffered).status).toBe(202)
    await expectRecovery()
    expect((await send()).body).toMatchObject({ accepted: true, duplicate: true })

    const tasks = async () => JSON.parse((await call(`/api/tasks?projectId=${project.id}`)).body).data
    await expect.poll(async () => (await tasks()).length).toBe(1)
    const deliveries = JSON.parse((await call(`/api/deliveries?projectId=${project.id}`)).body).data
    expect(deliveries).toEqual([expect.objectContaining({ senderId: deliveryId, outcome: 'accepted' })])
    expect(await tasks()).toEqual([expect.objectContaining({ title: TITLE, version: 1 })])
  })

  test('is a 503 as well where it does not respond', async () => {
    await listeningAgain()
    await signalServer(dataDir, 'SIGSTOP')

    const since = performance.now()
    const responses = Promise.all(
      Array.from({ length: 40 }, (_, nth) =>
        nth % 4 ? call('/api/tasks', { method: 'POST', body: { title: TITLE } }) : call('/api/tasks'),
      ),
    )
    await sleep(100)
    const asked = performance.now()
    expect((await call('/healthz')).status).toBe(200)
    expect(performance.now() - asked).toBeLessThan(500)
    for (const response of await responses) expectUnavailable(response)
    expect(performance.now() - since).toBeLessThan(MAX_SILENCE_MS)
    expectUnavailable(await call('/readyz'))
    expect(await isUpByMetrics()).toBe(0)

    await signalServer(dataDir, 'SIGCONT')
    await expectRecovery()
  })

  test('puts no secret and no text of a task into the log, and ends nothing', async () => {
    const output = inlet.output()
    expect(output).toContain('request failed')
    expect(output).not.toContain(ADMIN_KEY)
    expect(output).not.toContain(new URL(databaseUrl).password)
    expect(output).not.toContain(TITLE)
    // The driver's errors repeat the parameters of their statement.
    expect(output).not.toContain('params:')

    inlet.process.kill('SIGTERM')
    expect(await inlet.ended).toMatchObject({ code: 0 })
  })
})

describe('a start fails with a message', () => {
  test('when the database stays unavailable', async () => {
    const waits: string[] = []

    const start = retryUntilDeadline(() => migrate('postgres://inlet:s3cret@localhost:1/inlet'), {
      database: 'the database in DATABASE_URL',
      deadlineMs: 2_000,
      pauseMs: 30,
      signal: new AbortController().signal,
      onWait: (reason) => waits.push(reason),
    })

    await expect(start).rejects.toThrow(
      /^The database in DATABASE_URL did not respond for 2 s: connect ECONNREFUSED (127\.0\.0\.1|::1):1$/,
    )
    // Then each minute: 60 attempts would be 60 lines.
    expect(waits).toHaveLength(1)
    expect(waits.join()).not.toContain('s3cret')
  })

  test('at once when it refuses the credentials, with what to do about a volume', async () => {
    const wrong = new URL(databaseUrl)
    wrong.password = 's3cret'
    const ended = spawnInlet({ env: { DATABASE_URL: wrong.href } })

    expect(await ended.ended).toMatchObject({ code: 1 })
    expect(ended.output()).toBe(
      'Inlet cannot start. The database in DATABASE_URL cannot be used: password authentication failed for user "inlet". If it is the database of docker-compose.yml, its volume keeps the password that it was created with: see "Change the password of the database" in docs/operating.md\n',
    )
  })
})

/** A project that is connected to a repository of its own. */
async function connected() {
  const repository = host.repository('acme/away')
  const send = async (method: string, path: string, body: object) =>
    JSON.parse((await call(path, { method, body })).body)
  const project = await send('POST', '/api/projects', { name: 'Connected' })
  const connection = { repository: repository.name, schedule: 'off' }
  const { webhook } = await send('PUT', `/api/projects/${project.id}/codehost`, connection)
  return { repository, project, webhook: webhook as HostWebhook }
}

interface TextResponse {
  status: number
  headers: Headers
  body: string
}

async function call(path: string, request?: JsonRequest): Promise<TextResponse> {
  const response = await sendJson(url + path, request)
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/**
 * Credentials that were checked before listening began are forgotten; later ones work while the database is away. It
 * listens to one channel after the other.
 */
async function listeningAgain(): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const listening = `select from pg_stat_activity
    where application_name = 'inlet listen' and state = 'idle' and query like 'listen %'
      and state_change < clock_timestamp() - interval '500 ms'`
  await expect.poll(async () => (await client.query(listening)).rowCount).toBe(1)
  await client.end()
  await sleep(100)
  expect(await isUpByMetrics()).toBe(1)
}

/** What `/metrics` reports of the database; it must respond in any case. */
async function isUpByMetrics(): Promise<number> {
  const response = await call('/metrics')
  expect(response).toMatchObject({ status: 200 })
  return measured(response.body, 'inlet_database_up')
}

function expectUnavailable({ status, headers, body }: TextResponse) {
  expect(body).toContain('"code":"unavailable"')
  expect(status).toBe(503)
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

/** Twenty clients; `stop` returns all responses but 201. */
function createWithoutPause() {
  let isOn = true
  const others: TextResponse[] = []
  const clients = Array.from({ length: 20 }, async () => {
    while (isOn) {
      const response = await call('/api/tasks', { method: 'POST', body: { title: TITLE } })
      if (response.status !== 201) others.push(response)
    }
  })
  return {
    async stop() {
      isOn = false
      await Promise.all(clients)
      return others
    },
  }
}

async function expectRecovery() {
  const deadline = Date.now() + RECOVERY_MS
  for (const path of ['/readyz', '/api/tasks']) {
    while ((await call(path)).status !== 200) {
      expect(Date.now()).toBeLessThan(deadline)
      await sleep(50)
    }
  }
  // Each connection of the pool was there when it happened.
  const creates = await Promise.all(
    Array.from({ length: 30 }, () => call('/api/tasks', { method: 'POST', body: { title: TITLE } })),
  )
  expect(creates.map(({ status }) => status)).toEqual(Array(30).fill(201))
}
