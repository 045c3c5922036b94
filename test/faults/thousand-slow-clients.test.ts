import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { reportFault } from '../support/fault-report.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { type Load, startLoad } from '../support/load-client.ts'
import { peakMemoryOf } from '../support/memory.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type JsonRequest, sendJson } from '../support/send-json.ts'
import { slowClient, unfinishedPost } from '../support/slow-clients.ts'

const SLOW = 1_000
const WINDOW_MS = 3_000
/** The best of these counts: a stall of the machine spoils one. */
const WINDOWS = 3
/** What two measurements of a few milliseconds differ by. */
const SLACK_MS = 20
const MAX_GROWTH = 256 * 2 ** 20

afterEach(cleanUp)

test('a thousand slow clients leave the others their speed and cost little memory', async () => {
  const { connectionString, drop } = await freshDatabase()
  const instances = await startInstances(1, connectionString)
  const [url = ''] = instances.urls()
  await fill(url)
  const key = await newKey(url)
  const load = startLoad({ targets: instances.urls, clients: 4 })
  await sleep(2_000)

  const { peak: usualPeak, result: before } = await peakMemoryOf(instances.pid(0), () => windowsOf(load))
  const sockets: Socket[] = []
  const { peak, result: during } = await peakMemoryOf(instances.pid(0), async () => {
    for (let nth = 0; nth < SLOW; nth++) {
      sockets.push(nth % 2 ? await trickles(url, key) : await doesNotRead(url, key))
    }
    return windowsOf(load)
  })
  const present = sockets.filter(({ closed }) => !closed).length
  for (const socket of sockets) socket.destroy()
  await sleep(1_000)
  const after = await windowsOf(load)
  await load.stop()

  expect(load.tally.unexpected).toEqual([])
  expect([...load.tally.retries.keys()]).toEqual([])
  // All but the few that were too slow for the service's own limits.
  expect(present).toBeGreaterThan(SLOW * 0.9)
  const usual = p99([...before, ...after].flat())
  const slow = Math.min(...during.map(p99))
  expect(slow).toBeLessThan(2 * usual + SLACK_MS)
  expect(peak - usualPeak).toBeLessThan(MAX_GROWTH)
  const mib = Math.round((peak - usualPeak) / 2 ** 20)
  reportFault({
    fault: 'a thousand slow clients',
    times: 1,
    requests: load.tally.requests,
    retried: 0,
    longestWaitMs: Math.max(...load.tally.waits),
    note: `p99 of other clients ${Math.round(slow)} ms, without the fault ${Math.round(usual)} ms; ${mib} MiB more memory`,
  })
  await instances.endAll()
  await drop()
})

/** A byte now and then, of a body that does not end. */
async function trickles(url: string, key: string): Promise<Socket> {
  const { socket } = await slowClient(url, {
    bytes: unfinishedPost('/api/tasks', { headers: { 'X-API-Key': key }, length: 65_536, sent: 1_024 }),
  })
  const timer = setInterval(() => socket.write(' '), 1_000)
  socket.once('close', () => clearInterval(timer))
  return socket
}

/** Asks for two pages of one megabyte and reads none of them. */
async function doesNotRead(url: string, key: string): Promise<Socket> {
  const request = `GET /api/tasks?limit=200 HTTP/1.1\r\nHost: inlet\r\nX-API-Key: ${key}\r\n\r\n`
  const { socket } = await slowClient(url, { bytes: [request, request], isReading: false })
  return socket
}

/** How long requests took, in each of some windows one after the other. */
async function windowsOf({ tally }: Load): Promise<number[][]> {
  const windows: number[][] = []
  for (let nth = 0; nth < WINDOWS; nth++) {
    const from = tally.waits.length
    await sleep(WINDOW_MS)
    windows.push(tally.waits.slice(from))
  }
  return windows
}

function p99(waits: number[]): number {
  const sorted = waits.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY
}

/** A page of tasks that is large. */
async function fill(url: string): Promise<void> {
  for (let nth = 0; nth < 2; nth++) {
    const { data } = await call<{ data: { id: string }[] }>(`${url}/api/projects`)
    const lists = await call<{ data: { id: string }[] }>(`${url}/api/projects/${data[0]?.id}/lists`)
    const tasks = Array.from({ length: 100 }, () => ({ title: 'Large', description: 'x'.repeat(10_000) }))
    await call(`${url}/api/tasks/bulk`, { method: 'POST', body: { listId: lists.data[0]?.id, tasks } })
  }
}

async function newKey(url: string): Promise<string> {
  return (await call<{ key: string }>(`${url}/api/keys`, { method: 'POST', body: { name: 'Slow' } })).key
}

async function call<T>(url: string, request?: JsonRequest): Promise<T> {
  const response = await sendJson(url, request)
  expect(response.ok).toBe(true)
  return (await response.json()) as T
}
