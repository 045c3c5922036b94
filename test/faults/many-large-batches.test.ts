import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { reportFault } from '../support/fault-report.ts'
import { ADMIN_KEY, cleanUp, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { memoryOf, peakMemoryOf } from '../support/memory.ts'

const MIB = 1024 * 1024
const BATCHES = 100
/** A hundred of them are just under 4 MiB. */
const DESCRIPTION = 'x'.repeat(41_800)

afterAll(cleanUp)

test('a hundred batches of 4 MiB at once end neither the process nor the reads of another key', async () => {
  const env = { NODE_OPTIONS: '--max-old-space-size=512' }
  const inlet = spawnInlet({ dataDir: await newDataDir(), env })
  const url = await inlet.url
  const json = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY }
  const made = await fetch(`${url}/api/tasks`, { method: 'POST', headers: json, body: '{"title":"A"}' })
  const { listId } = (await made.json()) as { listId: string }
  const reader = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: json,
    body: '{"name":"Reader","scopes":["tasks:read"]}',
  })
  const { key } = (await reader.json()) as { key: string }
  const tasks = Array.from({ length: 100 }, (_, n) => ({ title: `Task ${n}`, description: DESCRIPTION }))
  const body = Buffer.from(JSON.stringify({ listId, tasks }))
  expect(body.length).toBeGreaterThan(3.9 * MIB)
  const send = async () => {
    const response = await fetch(`${url}/api/tasks/bulk`, { method: 'POST', headers: json, body })
    for await (const _ of response.body ?? []);
    return { status: response.status, retryAfter: response.headers.get('retry-after') }
  }
  // The heap has its size.
  expect((await send()).status).toBe(201)

  /** How long each read takes, one after the other, while the work is done. */
  const readsDuring = async <T>(work: Promise<T>) => {
    const waits: number[] = []
    let isOver = false
    const over = () => {
      isOver = true
    }
    work.then(over, over)
    while (!isOver) {
      const since = performance.now()
      const { status } = await fetch(`${url}/api/projects`, { headers: { 'x-api-key': key } })
      expect(status).toBe(200)
      waits.push(performance.now() - since)
      await sleep(5)
    }
    return { result: await work, waits }
  }
  const usual = await readsDuring(sleep(3_000))
  const before = memoryOf(inlet.process.pid)
  const { peak, result: during } = await peakMemoryOf(inlet.process.pid, () =>
    readsDuring(Promise.all(Array.from({ length: BATCHES }, send))),
  )

  const statuses = Map.groupBy(during.result, ({ status }) => status)
  expect([...statuses.keys()].filter((status) => ![201, 429, 503].includes(status))).toEqual([])
  expect(during.result.filter(({ status, retryAfter }) => status !== 201 && !retryAfter)).toEqual([])
  expect(statuses.get(201)?.length).toBeGreaterThan(0)
  expect(inlet.process.exitCode).toBeNull()
  const growth = Math.round((peak - before) / MIB)
  const [p99Usual, p99During] = [p99(usual.waits), p99(during.waits)]
  const created = statuses.get(201)?.length
  reportFault({
    fault: 'a hundred batches of 4 MiB at once, by one key, with a heap of 512 MiB',
    times: 1,
    requests: BATCHES,
    note: `${created} created, the others 429 or 503; at most ${Math.round(peak / MIB)} MiB, ${growth} MiB more than before; p99 of another key ${Math.round(p99During)} ms, without the fault ${Math.round(p99Usual)} ms`,
  })
  // Bodies have 48 MiB, and the rest is those in work.
  expect(growth).toBeLessThan(320)
  // The client encodes 400 MiB in the same process that reads.
  expect(p99During).toBeLessThan(20 * p99Usual + 1_000)
})

function p99(waits: number[]): number {
  const sorted = waits.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY
}
