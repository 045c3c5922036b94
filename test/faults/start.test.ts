import { access } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { reportFault } from '../support/fault-report.ts'
import { freePort } from '../support/free-port.ts'
import {
  ADMIN_KEY,
  cleanUp,
  connectionStringOf,
  type Inlet,
  newDataDir,
  serverPid,
  spawnInlet,
} from '../support/inlet-process.ts'
import { emptyDatabase, freshDatabase } from '../support/postgres.ts'

const OTHER_KEY = 'the-way-back-in-0123456789abcdef'

afterEach(cleanUp)

describe('a start that fails says why and leaves nothing behind', { timeout: 120_000 }, () => {
  test('when the environment is invalid: every variable at once, no value', async () => {
    const inlet = spawnInlet({
      env: { PORT: '70000', DATABASE_URL: 'mysql://u:s3cret@host/db', BOOTSTRAP_API_KEY: 'short-s3cret' },
    })

    expect(await inlet.ended).toMatchObject({ code: 1 })
    const lines = inlet.output().trim().split('\n')
    expect(lines[0]).toBe('Inlet cannot start. Invalid environment variables:')
    expect(lines.slice(1).map((line) => line.trim().split(' ')[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'BOOTSTRAP_API_KEY',
    ])
    expect(inlet.output()).not.toContain('s3cret')
  })

  test('when the port is in use: before the database is created and keys are shown', async () => {
    const dataDir = await newDataDir()
    const other = createServer().listen(0, '127.0.0.1')
    await sleep(10)
    const { port } = other.address() as { port: number }

    const inlet = spawnInlet({ dataDir, env: { PORT: String(port) } })

    expect(await inlet.ended).toMatchObject({ code: 1 })
    expect(inlet.output()).toBe(
      `Inlet cannot start. Port ${port} on 127.0.0.1 is already in use. Stop the other process, or set PORT to another port.\n`,
    )
    await expect(access(dataDir)).rejects.toThrow('ENOENT')
    other.close()
  })

  test('when the port is taken at the last moment: the embedded database is stopped again', async () => {
    const dataDir = await newDataDir()
    const port = await freePort()
    const inlet = spawnInlet({ dataDir, env: { PORT: String(port) } })
    while (!inlet.output().includes('embedded database ready')) await sleep(2)
    const other = createServer().listen(port, '127.0.0.1')

    expect(await inlet.ended).toMatchObject({ code: 1 })
    expect(inlet.output()).toMatch(/^Inlet cannot start\. Port \d+ on 127\.0\.0\.1 is already in use\. .*\n/m)
    expect(await serverPid(dataDir)).toBeUndefined()
    other.close()
  })
})

describe('two that start at once are one service', { timeout: 120_000 }, () => {
  test('on an empty data directory', async () => {
    const dataDir = await newDataDir()

    const both = [0, 1].map(() => spawnInlet({ dataDir, env: { BOOTSTRAP_API_KEY: '' } }))

    await expectOneOfEach(both, () => connectionStringOf(dataDir))
    expect(await serverPid(dataDir)).toBeUndefined()
  })
})

test('four that start at once on an empty database are one service, three times', {
  timeout: 240_000,
}, async () => {
  const startMs: number[] = []
  for (let time = 0; time < 3; time++) {
    // Not a migrated one: they make the schema as well.
    const { connectionString, drop } = await emptyDatabase()
    const env = { BOOTSTRAP_API_KEY: '', DATABASE_URL: connectionString }
    const since = performance.now()

    const four = Array.from({ length: 4 }, () => spawnInlet({ env }))

    await Promise.all(four.map(({ url }) => url))
    startMs.push(performance.now() - since)
    for (const inlet of four) expect((await fetch(`${await inlet.url}/readyz`)).status).toBe(200)
    const secrets = four.flatMap((inlet) => inlet.output().match(/^ {2}inlw_\S+$/gm) ?? [])
    expect(secrets).toHaveLength(1)
    await expectOneOfEach(four, async () => connectionString)
    // Also not in the background worker, which makes a schema of its own.
    for (const inlet of four) expect(inlet.output()).not.toMatch(/"level":[456]0/)
    await drop()
  }
  reportFault({
    fault: 'four instances starting at once on an empty database',
    times: 3,
    note: `ready after at most ${Math.round(Math.max(...startMs))} ms`,
  })
})

test('BOOTSTRAP_API_KEY works whenever it is set, until it is revoked: then for good', {
  timeout: 120_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const startWith = async (key: string) => {
    const inlet = spawnInlet({ env: { DATABASE_URL: connectionString, BOOTSTRAP_API_KEY: key } })
    return { inlet, url: await inlet.url }
  }

  const first = await startWith(ADMIN_KEY)
  expect(first.inlet.output()).not.toContain('Admin key')
  await expect.poll(first.inlet.output).toContain('keys create --admin')
  await end(first.inlet)

  const later = await startWith(OTHER_KEY)
  const me = await fetch(`${later.url}/api/me`, { headers: { 'x-api-key': OTHER_KEY } })
  expect(me.status).toBe(200)
  const { id } = (await me.json()) as { id: string }
  const revoked = await fetch(`${later.url}/api/keys/${id}`, {
    method: 'DELETE',
    headers: { 'x-api-key': ADMIN_KEY },
  })
  expect(revoked.status).toBe(204)
  await end(later.inlet)

  const again = await startWith(OTHER_KEY)
  const statusWith = async (key: string) =>
    (await fetch(`${again.url}/api/me`, { headers: { 'x-api-key': key } })).status
  expect(await statusWith(OTHER_KEY)).toBe(401)
  expect(await statusWith(ADMIN_KEY)).toBe(200)
  expect(again.inlet.output()).not.toContain(OTHER_KEY)
  await end(again.inlet)
  await drop()
})

async function expectOneOfEach(both: Inlet[], connectionString: () => Promise<string>) {
  await Promise.all(both.map(({ url }) => url))
  const keys = both.flatMap((inlet) => inlet.output().match(/^ {2}inl_\S+$/gm) ?? [])
  expect(keys).toHaveLength(1)

  const client = new pg.Client({ connectionString: await connectionString() })
  await client.connect()
  const { rows } = await client.query(`
    SELECT (SELECT count(*)::int FROM projects) AS projects, (SELECT count(*)::int FROM lists) AS lists,
           (SELECT count(*)::int FROM api_keys) AS keys, (SELECT count(*)::int FROM webhook_secrets) AS secrets`)
  await client.end()
  expect(rows).toEqual([{ projects: 1, lists: 1, keys: 1, secrets: 1 }])

  for (const { url } of both) {
    const response = await fetch(`${await url}/api/me`, { headers: { 'x-api-key': keys[0]?.trim() ?? '' } })
    expect(response.status).toBe(200)
  }
  await Promise.all(both.map(end))
}

async function end(inlet: Inlet) {
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
}
