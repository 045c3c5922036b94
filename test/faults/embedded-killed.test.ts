import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import {
  cleanUp,
  connectionStringOf,
  type Inlet,
  killServer,
  newDataDir,
  send,
  serverPid,
  spawnInlet,
} from '../support/inlet-process.ts'
import { sendJson } from '../support/send-json.ts'

const RECOVERY_MS = 5_000

/** Connections that Inlet keeps open and must reopen by itself. */
const CONNECTIONS = ['inlet', 'inlet lease', 'inlet listen']

afterEach(cleanUp)

describe('an embedded server that is killed', () => {
  test('is started again within 5 s, each time, on its port, with everything that was acknowledged', async () => {
    const dataDir = await newDataDir()
    const inlet = spawnInlet({ dataDir })
    const url = await inlet.url
    const address = await connectionStringOf(dataDir)
    const acknowledged: string[] = []

    for (const [nth, kill] of [killPostmaster, killServer, killPostmaster].entries()) {
      acknowledged.push(await createUntilDone(url))
      await kill(dataDir)
      acknowledged.push(await createUntilDone(url))
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      const starts = () => inlet.output().match(/"msg":"embedded database started again"/g)
      await expect.poll(starts).toHaveLength(nth + 1)
    }

    expect(await connectionStringOf(dataDir)).toBe(address)
    await expect
      .poll(() => connectionsOf(address), { timeout: 60_000 })
      .toEqual(expect.arrayContaining(CONNECTIONS))
    for (const id of acknowledged) expect((await sendJson(`${url}/api/tasks/${id}`)).status).toBe(200)
    await expectEnd(inlet, 0)
    expect(await serverPid(dataDir)).toBeUndefined()
  })

  test('is started again also while one of its statements still computes', async () => {
    const dataDir = await newDataDir()
    const inlet = spawnInlet({ dataDir })
    const url = await inlet.url
    const client = new pg.Client({ connectionString: await connectionStringOf(dataDir) })
    client.on('error', () => undefined)
    await client.connect()
    const computing = client.query('select count(*) from generate_series(1, 100000000000)').catch(() => 'cut')
    await sleep(300)

    await killPostmaster(dataDir)

    await createUntilDone(url)
    expect(await computing).toBe('cut')
    await expectEnd(inlet, 0)
  })

  test('is shared as before by the processes that used it', async () => {
    const dataDir = await newDataDir()
    const inlets = [spawnInlet({ dataDir }), spawnInlet({ dataDir }), spawnInlet({ dataDir })]
    const urls = await Promise.all(inlets.map(({ url }) => url))

    await killPostmaster(dataDir)

    await Promise.all(urls.map(createUntilDone))
    // Each has its lease again: the first ones to end leave the server running for the last.
    for (const [nth, inlet] of inlets.entries()) {
      await expect.poll(inlet.output).toMatch(/embedded database (started|reached) again/)
      await expectEnd(inlet, 0)
      expect((await serverPid(dataDir)) !== undefined).toBe(nth < inlets.length - 1)
    }
  })

  test('ends the process with 1 where three starts failed', async () => {
    const dataDir = await newDataDir()
    const inlet = spawnInlet({ dataDir })
    await inlet.url

    await rename(join(dataDir, 'postgres', 'global'), join(dataDir, 'postgres', 'elsewhere'))
    await killPostmaster(dataDir)

    expect(await inlet.ended).toMatchObject({ code: 1 })
    expect(inlet.output()).toContain('The embedded database ended and could not be started again: ')
    const log = await readFile(join(dataDir, 'postgres', 'server.log'), 'utf8')
    expect(log.match(/could not find the database system/g)).toHaveLength(3)
  })

  test('does not delay the end of a process on SIGTERM', async () => {
    const dataDir = await newDataDir()
    const inlet = spawnInlet({ dataDir })
    await inlet.url

    await killPostmaster(dataDir)
    await expectEnd(inlet, 0)

    expect(await serverPid(dataDir)).toBeUndefined()
  })
})

/** Its children are left to notice. */
async function killPostmaster(dataDir: string): Promise<void> {
  const pid = await serverPid(dataDir)
  if (!pid) throw new Error('No server runs.')
  send(pid, 'SIGKILL')
  await expect.poll(() => serverPid(dataDir).then((now) => now === pid)).toBe(false)
}

/** Creates one task, trying again for as long as recovery may take. */
async function createUntilDone(url: string): Promise<string> {
  const since = performance.now()
  for (;;) {
    const response = await sendJson(`${url}/api/tasks`, {
      method: 'POST',
      body: { title: 'Outlives its database' },
    })
    const body = (await response.json()) as { id: string; code: string }
    if (response.status === 201) return body.id
    expect(body.code).toBe('unavailable')
    expect(performance.now() - since).toBeLessThan(RECOVERY_MS)
    await sleep(50)
  }
}

async function connectionsOf(connectionString: string): Promise<string[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    "select distinct application_name as name from pg_stat_activity where application_name like 'inlet%'",
  )
  await client.end()
  return rows.map(({ name }) => name)
}

async function expectEnd(inlet: Inlet, code: number): Promise<void> {
  const since = performance.now()
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code })
  expect(performance.now() - since).toBeLessThan(10_000)
}
