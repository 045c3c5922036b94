import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { ADMIN_KEY, cleanUp, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { connectionsOf, memoryOf, peakMemoryOf } from '../support/memory.ts'
import { slowClient, unfinishedPost } from '../support/slow-clients.ts'

const MIB = 1024 * 1024
const SECRET = 'a-webhook-secret-for-tests'

afterAll(cleanUp)

// At the same time, for they wait for the service's timeouts.
test.concurrent('400 connections that withhold the end of a body are cut, and hold little memory until then', {
  timeout: 180_000,
}, async ({ expect }) => {
  const port = await freePort()
  const env = { WEBHOOK_SECRET: SECRET, WEBHOOK_PORT: String(port) }
  const inlet = spawnInlet({ dataDir: await newDataDir(), env })
  const url = await inlet.url
  const receiver = `http://127.0.0.1:${port}`
  const me = () =>
    fetch(`${url}/api/me`, { headers: { 'x-api-key': ADMIN_KEY } }).then(({ status }) => status)
  expect(await me()).toBe(200)
  const before = memoryOf(inlet.process.pid)

  const doors = [
    { at: url, path: '/api/tasks', headers: { 'X-API-Key': ADMIN_KEY } },
    { at: receiver, path: '/api/analytics/webhook', headers: { Authorization: `Bearer ${SECRET}` } },
  ].map(({ at, path, headers }) => ({
    at,
    // Shared: 400 MiB of bodies would slow down the clients, and with them the service.
    bytes: unfinishedPost(path, { headers, length: MIB, sent: MIB - 1 }),
  }))
  const { peak, result: clients } = await peakMemoryOf(inlet.process.pid, async () => {
    const clients = []
    for (let i = 0; i < 200; i++) {
      for (const { at, bytes } of doors) clients.push(await slowClient(at, { bytes }))
    }
    expect(await me()).toBe(200)
    await Promise.race([Promise.all(clients.map(({ closed }) => closed)), sleep(80_000)])
    return clients
  })

  expect(clients.filter(({ socket }) => !socket.closed)).toHaveLength(0)
  // Past the room for all of them, the last to come are refused and not the first cut.
  const statuses = clients.map(({ received }) => received().slice(9, 12))
  expect(statuses.filter((status) => !['408', '503'].includes(status))).toEqual([])
  expect(statuses).toContain('408')
  expect(peak - before).toBeLessThan((clients.length * MIB) / 1.5)
  expect(await me()).toBe(200)
})

test.concurrent('connections without a request, or with an endless header, are cut on both ports', {
  timeout: 180_000,
}, async ({ expect }) => {
  const port = await freePort()
  const env = { WEBHOOK_SECRET: SECRET, WEBHOOK_PORT: String(port) }
  const url = await spawnInlet({ dataDir: await newDataDir(), env }).url
  const request = 'GET /healthz HTTP/1.1\r\nHost: inlet\r\n'
  const cases = [
    { sent: '', maxMs: 60_000 },
    { sent: `${request}\r\n`, maxMs: 100_000 },
    { sent: `${request}X-Endless: `, drip: 'x', maxMs: 60_000 },
  ]
  const open = [url, `http://127.0.0.1:${port}`].flatMap((at) => cases.map((each) => ({ at, ...each })))
  const clients = await Promise.all(
    open.map(async ({ at, sent, drip, maxMs }) => {
      const { socket, closed } = await slowClient(at, { bytes: [sent] })
      const timer = setInterval(() => drip && socket.write(drip), 1_000)
      await Promise.race([closed, sleep(maxMs)])
      clearInterval(timer)
      return { at, sent, isCut: socket.closed }
    }),
  )

  expect(clients.filter(({ isCut }) => !isCut)).toEqual([])
})

test.concurrent('50 readers that never read a list of long tasks are cut, and hold little memory, as do 90 pages at once', {
  timeout: 180_000,
}, async ({ expect }) => {
  const inlet = spawnInlet({ dataDir: await newDataDir() })
  const url = await inlet.url
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  const task = { title: 'Long', description: 'Long text. '.repeat(5_909).slice(0, 65_000) }
  const first = await fetch(`${url}/api/tasks`, { method: 'POST', headers, body: JSON.stringify(task) })
  const { listId } = (await first.json()) as { listId: string }
  for (let i = 0; i < 4; i++) {
    const body = JSON.stringify({ listId, tasks: Array.from({ length: 50 }, () => task) })
    expect((await fetch(`${url}/api/tasks/bulk`, { method: 'POST', headers, body })).status).toBe(201)
  }
  const csv = { ...headers, accept: 'text/csv' }
  const readOnce = async () =>
    (await (await fetch(`${url}/api/tasks`, { headers: csv })).arrayBuffer()).byteLength
  // On a busy machine a statement or a read may take too long, and the response is cut.
  const read = (): Promise<number> => readOnce().catch(() => sleep(500).then(read))
  const page = async () => {
    const response = await fetch(`${url}/api/tasks?limit=200`, { headers })
    return { status: response.status, bytes: (await response.arrayBuffer()).byteLength }
  }
  const bytes = await read()
  expect(bytes).toBeGreaterThan(200 * 65_000)
  const { pid } = inlet.process

  const beforeReads = memoryOf(pid)
  const ordinary = await peakMemoryOf(pid, () => Promise.all(Array.from({ length: 10 }, read)))
  expect(ordinary.result).toEqual(Array.from({ length: 10 }, () => bytes))

  const before = memoryOf(pid)
  const handles = connectionsOf(pid)
  const unread = await peakMemoryOf(pid, async () => {
    const request = `GET /api/tasks HTTP/1.1\r\nHost: inlet\r\nAccept: text/csv\r\nX-API-Key: ${ADMIN_KEY}\r\n\r\n`
    const clients = []
    for (let i = 0; i < 50; i++) clients.push(await slowClient(url, { bytes: [request], isReading: false }))
    // Of those that the ordinary reads left open, some may be closed by now.
    await expect.poll(() => connectionsOf(pid)).toBeGreaterThanOrEqual(50)
    await expect.poll(() => connectionsOf(pid), { timeout: 90_000, interval: 500 }).toBeLessThan(handles + 5)
    return clients
  })
  const beforePages = memoryOf(pid)
  const pages = await peakMemoryOf(pid, () => Promise.all(Array.from({ length: 90 }, page)))
  const whole = pages.result.filter(({ status }) => status === 200).map(({ bytes }) => bytes)
  expect(whole.length).toBeGreaterThanOrEqual(40)
  for (const bytes of whole) expect(bytes).toBeLessThan(MIB + 70_000)
  // Measured: 40 MiB.
  expect(pages.peak - beforePages).toBeLessThan(150 * MIB)

  expect(ordinary.peak - beforeReads).toBeLessThan(2 * 10 * bytes)
  expect(unread.peak - before).toBeLessThan((50 * bytes) / 4)
  expect(await read()).toBe(bytes)
  for (const { socket } of unread.result) socket.destroy()
})

test.concurrent('50 readers that never read the rules hold no more memory than there is room for, and are cut', {
  timeout: 180_000,
}, async ({ expect }) => {
  const inlet = spawnInlet({ dataDir: await newDataDir() })
  const url = await inlet.url
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  const body = JSON.stringify({ content: 'Rule text. '.repeat(728).slice(0, 8_000) })
  // One after the other, as the service would: together, on a busy machine, the last wait too long for their turn.
  for (let i = 0; i < 1_000; i++) {
    expect((await fetch(`${url}/api/rules`, { method: 'POST', headers, body })).status).toBe(201)
  }
  const created = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers,
    body: '{"name":"Reader","scopes":["rules:read"]}',
  })
  const { key } = (await created.json()) as { key: string }
  const read = async (key = ADMIN_KEY) =>
    (await (await fetch(`${url}/api/rules`, { headers: { 'x-api-key': key } })).arrayBuffer()).byteLength
  const bytes = await read()
  expect(bytes).toBeGreaterThan(1_000 * 8_000)
  const { pid } = inlet.process

  const beforeReads = memoryOf(pid)
  const ordinary = await Promise.all(Array.from({ length: 10 }, () => read()))
  // The share of a key has room for five; others that come in the same moment are 503.
  expect(ordinary.filter((length) => length === bytes).length).toBeGreaterThanOrEqual(5)

  const unread = await peakMemoryOf(pid, async () => {
    const request = `GET /api/rules HTTP/1.1\r\nHost: inlet\r\nX-API-Key: ${ADMIN_KEY}\r\n\r\n`
    const clients = []
    for (let i = 0; i < 50; i++) clients.push(await slowClient(url, { bytes: [request], isReading: false }))
    await expect.poll(() => connectionsOf(pid)).toBeGreaterThanOrEqual(50)
    // While all of them are here, another key reads at once, and the same one when the first of them are cut.
    expect(await read(key)).toBe(bytes)
    await expect.poll(() => read()).toBe(bytes)
    await expect.poll(() => connectionsOf(pid), { timeout: 90_000, interval: 500 }).toBeLessThan(50)
    return clients
  })
  // Measured: 150 to 180 MiB, of which the ten ordinary reads are most; 710 where nothing bounds them.
  expect(unread.peak - beforeReads).toBeLessThan(300 * MIB)
  expect(await read()).toBe(bytes)
  for (const { socket } of unread.result) socket.destroy()
})
