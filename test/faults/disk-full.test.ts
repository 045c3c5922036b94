import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { reportFault } from '../support/fault-report.ts'
import {
  ADMIN_KEY,
  cleanUp,
  connectionStringOf,
  type Inlet,
  newDataDir,
  spawnInlet,
} from '../support/inlet-process.ts'
import { type SmallDisk, smallDisk } from '../support/small-disk.ts'

const MEGABYTES = 150
const RECOVERY_MS = 15_000

let disk: SmallDisk | undefined

afterEach(async () => {
  disk?.unmount()
  disk = undefined
  await cleanUp()
})

describe('a disk that is full', () => {
  test('is a 503 with Retry-After while it is full', async () => {
    const { url, pid, inlet, disk } = await start()
    const before = await create(url)
    expect(before.status).toBe(201)

    await disk.fill(pid)
    const refused = await createUntilRefused(url)
    expectUnavailable(refused)
    expect((await fetch(`${url}/api/tasks`, { headers: { 'x-api-key': ADMIN_KEY } })).status).toBe(200)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(inlet.output()).toContain('No space left on device')

    await disk.free(pid)
    await expectRecovery(url)
    await expectEnd(inlet)
  })

  test('that stops the embedded server: it is started again once there is space', async () => {
    const { url, pid, inlet, address, disk } = await start()
    const kept = await create(url)

    await disk.fill(pid)
    await writeLogUntilPanic(address)
    // Longer than three starts that fail for another reason would be tried.
    await expect.poll(inlet.output, { timeout: 30_000 }).toContain('no space left on the disk')
    for (const deadline = Date.now() + 8_000; Date.now() < deadline; await sleep(250)) {
      expectUnavailable(await create(url))
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
    }

    await disk.free(pid)
    const recoveryMs = await expectRecovery(url)
    // Responses may arrive a moment before the log says why.
    await expect.poll(inlet.output).toContain('embedded database started again')
    const path = `/api/tasks/${JSON.parse(kept.text).id}`
    expect((await fetch(url + path, { headers: { 'x-api-key': ADMIN_KEY } })).status).toBe(200)
    await expectEnd(inlet)
    reportFault({ fault: 'disk full, embedded server', times: 1, recoveryMs })
  })
})

async function start() {
  const dataDir = await newDataDir()
  disk = await smallDisk(dataDir, MEGABYTES)
  const inlet = spawnInlet({ dataDir, wrapper: disk.wrapper })
  const url = await inlet.url
  const { pid } = inlet.process
  if (!pid) throw new Error('It was never started.')
  return { inlet, url, pid, disk, address: await connectionStringOf(disk.path(pid)) }
}

async function create(url: string) {
  const response = await fetch(`${url}/api/tasks`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Takes space', description: 'x'.repeat(60_000) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function createUntilRefused(url: string) {
  for (;;) {
    const response = await create(url)
    if (response.status !== 201) return response
  }
}

/** Without a log to write to, PostgreSQL can only stop. */
async function writeLogUntilPanic(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => undefined)
  await client.connect()
  const write = () => client.query("select pg_logical_emit_message(true, 'x', repeat('x', 1000000))")
  while (
    await write().then(
      () => true,
      () => false,
    )
  );
  await client.end().catch(() => undefined)
}

function expectUnavailable({ status, headers, text }: Awaited<ReturnType<typeof create>>) {
  expect(text).toContain('"code":"unavailable"')
  expect(status).toBe(503)
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

async function expectRecovery(url: string): Promise<number> {
  const since = performance.now()
  for (;;) {
    const response = await create(url)
    if (response.status === 201) return performance.now() - since
    expectUnavailable(response)
    expect(performance.now() - since).toBeLessThan(RECOVERY_MS)
    await sleep(100)
  }
}

async function expectEnd(inlet: Inlet): Promise<void> {
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
}
