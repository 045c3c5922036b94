import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, type TestContext, test } from 'vitest'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { ADMIN_KEY, cleanUp, type Inlet, spawnInlet } from '../support/inlet-process.ts'
import { emptyDatabase, freshDatabase } from '../support/postgres.ts'

/** The process gives itself 9 s; Docker kills after 10. */
const GRACE_MS = 9_500

afterAll(cleanUp)

describe('SIGTERM ends the process in time and with 0, whatever the database does', {
  timeout: 60_000,
}, () => {
  // At the same time, for they mostly wait.
  test.concurrent.for([
    ['no connection receives anything', 'pause', [503]],
    ['the connections there are have gone dead', 'strand', [201, 503]], // a new connection may still be made
  ] as const)(
    'when %s: requests that wait for the database get a response',
    async ([, fault, statuses], context) => {
      const { expect } = context
      const proxy = await proxiedDatabase(context)
      const inlet = spawnInlet({ env: { DATABASE_URL: proxy.connectionString } })
      const url = await inlet.url
      while ((await create(url)) !== 201) await sleep(100)

      proxy[fault]()
      const waiting = Array.from({ length: 4 }, () => create(url))
      await sleep(200)
      const ended = await terminate(inlet)

      expect(ended).toMatchObject({ code: 0 })
      expect(ended.ms).toBeLessThan(GRACE_MS)
      for (const status of await Promise.all(waiting)) expect(statuses).toContain(status)
    },
  )

  test.concurrent('when it falls silent while the process starts', async (context) => {
    const { expect } = context
    const proxy = await proxiedDatabase(context)
    proxy.pause()
    const inlet = spawnInlet({ env: { DATABASE_URL: proxy.connectionString } })
    while (!inlet.output().includes('waiting for the database')) await sleep(20)

    const ended = await terminate(inlet)

    expect(ended).toMatchObject({ code: 0 })
    expect(ended.ms).toBeLessThan(GRACE_MS)
  })
})

describe('a start against a port that accepts connections and never responds', { timeout: 60_000 }, () => {
  test('says within seconds which variable to look at', async ({ expect }) => {
    const sockets: Socket[] = []
    const server = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(
      0,
      '127.0.0.1',
    )
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const since = performance.now()
    const inlet = spawnInlet({ env: { DATABASE_URL: `postgres://inlet:s3cret@127.0.0.1:${port}/inlet` } })

    while (!inlet.output().includes('waiting')) await sleep(20)

    expect(performance.now() - since).toBeLessThan(30_000)
    expect(inlet.output()).toContain('"msg":"waiting for the database in DATABASE_URL"')
    expect(inlet.output()).toContain('"reason":"no response from the database for 5 s"')
    expect(inlet.output()).not.toContain('s3cret')
    expect(await terminate(inlet)).toMatchObject({ code: 0 })
    for (const socket of sockets) socket.destroy()
    server.close()
  })
})

describe('a database that freezes during the first migration', { timeout: 90_000 }, () => {
  test.concurrent('ends the start with 1 and one sentence', async (context) => {
    const { expect, onTestFinished } = context
    const { connectionString, drop } = await emptyDatabase()
    const proxy = await startDatabaseProxy(connectionString)
    const other = new pg.Client({ connectionString })
    await other.connect()
    onTestFinished(async () => {
      proxy.close()
      await other.end()
      await drop()
    })
    // The migration that makes this table waits for it.
    await other.query('begin; create table projects ()')
    const inlet = spawnInlet({ env: { DATABASE_URL: proxy.connectionString } })
    await expect.poll(() => waitingStarts(connectionString)).toBe(1)

    proxy.pause()
    const since = performance.now()

    expect(await inlet.ended).toMatchObject({ code: 1 })
    expect(performance.now() - since).toBeLessThan(45_000)
    expect(inlet.output()).toMatch(
      /^Inlet cannot start\. The database in DATABASE_URL cannot be used: it did not respond for 30 s during a migration\n$/m,
    )
  })
})

async function create(url: string): Promise<number> {
  const response = await fetch(`${url}/api/tasks`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: '{"title":"Waits for the database"}',
  })
  return response.status
}

async function terminate(inlet: Inlet) {
  const since = performance.now()
  inlet.process.kill('SIGTERM')
  const { code, signal } = await inlet.ended
  return { code, signal, ms: performance.now() - since }
}

/** For one test. */
async function proxiedDatabase({ onTestFinished }: TestContext) {
  const { connectionString, drop } = await freshDatabase()
  const proxy = await startDatabaseProxy(connectionString)
  onTestFinished(async () => {
    proxy.close()
    await drop()
  })
  return proxy
}

async function waitingStarts(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client
    .query(
      `select count(*)::int from pg_stat_activity
       where datname = current_database() and application_name = 'inlet start' and wait_event_type = 'Lock'`,
    )
    .finally(() => client.end())
  return rows[0].count
}
