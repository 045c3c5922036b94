import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { exported, linesIn, withoutHeader, withTasks } from '../support/exports.ts'
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
import { SENDING_ENV, startReceiver, verify } from '../support/webhooks.ts'

const MEGABYTES = 150
const RECOVERY_MS = 15_000
const DISK_FULL = /^The disk of the database is full\./

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
    expect(refused.body.detail).toMatch(DISK_FULL)
    for (const path of ['/api/tasks', `/api/tasks/${before.body.id}`, '/api/projects', '/api/activity']) {
      expect([path, (await fetch(url + path, { headers: { 'x-api-key': ADMIN_KEY } })).status]).toEqual([
        path,
        200,
      ])
    }
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await get(url, '/readyz')).toEqual({ status: 'ok', unavailable: ['disk'] })
    const line = inlet
      .output()
      .split('\n')
      .find((text) => text.includes('request failed'))
    expect(line && JSON.parse(line).err.message).toMatch(DISK_FULL)
    expect(line).toContain('No space left on device')

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
      const refused = await create(url)
      expectUnavailable(refused)
      expect(refused.body.detail).toMatch(DISK_FULL)
      expect(await get(url, '/readyz')).toMatchObject({
        code: 'unavailable',
        detail: expect.stringMatching(DISK_FULL),
      })
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
    }

    await disk.free(pid)
    const recoveryMs = await expectRecovery(url)
    // Responses may arrive a moment before the log says why.
    await expect.poll(inlet.output).toContain('embedded database started again')
    const path = `/api/tasks/${kept.body.id}`
    expect((await fetch(url + path, { headers: { 'x-api-key': ADMIN_KEY } })).status).toBe(200)
    await expectEnd(inlet)
    reportFault({ fault: 'disk full, embedded server', times: 1, recoveryMs })
  })

  test('loses no delivery of an outgoing webhook, whose receiver accepts everything meanwhile', async () => {
    const { url, pid, inlet, address, disk } = await start(SENDING_ENV)
    const receiver = await startReceiver()
    const accepting = Promise.withResolvers<void>()
    receiver.respond((response) => accepting.promise.then(() => response.writeHead(200).end()))
    const input = { name: 'A receiver', url: receiver.url, types: ['task.created'] }
    const { body: webhook } = await post(url, '/api/webhooks', input)
    const created = [await create(url)]
    await expect.poll(() => receiver.received.length).toBe(1)

    await disk.fill(pid)
    for (let last = await create(url); last.status === 201; last = await create(url)) created.push(last)
    await writeLogUntilPanic(address)
    accepting.resolve()
    await expect.poll(inlet.output).toContain('webhook deliveries were interrupted')

    await disk.free(pid)
    await expectRecovery(url)
    const arrived = () => new Set(receiver.received.map(({ body }) => body.data.taskId))
    const ids = created.map(({ body }) => body.id)
    await expect.poll(() => ids.filter((id) => !arrived().has(id))).toEqual([])
    // What it had accepted while nothing could be stored is sent again, with the same id, also if nothing else waited.
    const first = () => receiver.received.filter(({ body }) => body.data.taskId === ids[0])
    await expect.poll(() => first().length).toBeGreaterThan(1)
    expect(new Set(first().map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    for (const each of receiver.received) verify(each, webhook.secret)
    const path = `/api/webhooks/${webhook.id}`
    await expect.poll(async () => (await get(url, `${path}/deliveries?outcome=pending`)).data).toEqual([])
    expect(await get(url, path)).toMatchObject({ isActive: true, disabledReason: null })
    await expectEnd(inlet)
    await receiver.close()
  })

  test('fails an import, which leaves nothing and succeeds once there is space', async () => {
    const { url, pid, inlet, disk } = await start()
    const exportedLines = async () => withoutHeader(await exported({ url, adminKey: ADMIN_KEY }))
    const before = await exportedLines()
    const file = await exportOfTasks(300)

    await disk.fill(pid)
    expectUnavailable(await importFile(url, file))
    await expect.poll(inlet.output).toContain('No space left on device')

    await disk.free(pid)
    await expect.poll(exportedLines).toBe(before)
    await expect.poll(async () => (await importFile(url, file)).status).toBe(200)
    expect(sha256In(await exportedLines())).toBe(sha256In(file))
    await expectEnd(inlet)
  })
})

async function start(env: Record<string, string> = {}) {
  const dataDir = await newDataDir()
  disk = await smallDisk(dataDir, MEGABYTES)
  const inlet = spawnInlet({ dataDir, env, wrapper: disk.wrapper })
  const url = await inlet.url
  const { pid } = inlet.process
  if (!pid) throw new Error('It was never started.')
  return { inlet, url, pid, disk, address: await connectionStringOf(disk.path(pid)) }
}

const create = (url: string) =>
  post(url, '/api/tasks', { title: 'Takes space', description: 'x'.repeat(60_000) })

const post = (url: string, path: string, body: object) =>
  send(url + path, 'application/json', JSON.stringify(body))

const importFile = (url: string, file: string) => send(`${url}/api/import`, 'application/x-ndjson', file)

async function send(address: string, type: string, body: string) {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': type }
  const response = await fetch(address, { method: 'POST', headers, body })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

const sha256In = (text: string) => linesIn(text).at(-1)?.sha256

/** Their descriptions cannot be compressed. */
async function exportOfTasks(count: number): Promise<string> {
  const source = await startApp()
  await source.post('/api/tasks', { title: 'Takes space' })
  const text = await exported(source)
  await source.close()
  return withTasks(text, count, () => ({ description: randomBytes(30_000).toString('hex') }))
}

async function get(url: string, path: string) {
  const response = await fetch(url + path, { headers: { 'x-api-key': ADMIN_KEY } })
  return JSON.parse(await response.text())
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

function expectUnavailable({ status, headers, text }: Awaited<ReturnType<typeof send>>) {
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
