import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
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
  const send = (times: number) => sentElsewhere({ url: `${url}/api/tasks/bulk`, headers: json, body, times })
  // The heap has its size.
  expect((await send(1)).map(({ status }) => status)).toEqual([201])

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
  const { peak, result: first } = await peakMemoryOf(inlet.process.pid, () => readsDuring(send(BATCHES)))
  const rounds = [first, await readsDuring(send(BATCHES)), await readsDuring(send(BATCHES))]

  const responses = rounds.flatMap(({ result }) => result)
  const statuses = Map.groupBy(responses, ({ status }) => status)
  expect([...statuses.keys()].filter((status) => ![201, 429, 503].includes(status))).toEqual([])
  expect(responses.filter(({ status, retryAfter }) => status !== 201 && !retryAfter)).toEqual([])
  expect(statuses.get(201)?.length).toBeGreaterThan(0)
  expect(inlet.process.exitCode).toBeNull()
  const growth = Math.round((peak - before) / MIB)
  const p99Usual = p99(usual.waits)
  // Of the three, the one in the middle.
  const p99During =
    rounds.map(({ waits }) => p99(waits)).toSorted((a, b) => a - b)[1] ?? Number.POSITIVE_INFINITY
  const created = statuses.get(201)?.length
  reportFault({
    fault: 'a hundred batches of 4 MiB at once, by one key, with a heap of 512 MiB',
    times: rounds.length,
    requests: responses.length,
    note: `${created} created, the others 429 or 503; at most ${Math.round(peak / MIB)} MiB, ${growth} MiB more than before; p99 of another key ${Math.round(p99During)} ms, without the fault ${Math.round(p99Usual)} ms`,
  })
  // Bodies have 48 MiB, and the rest is those in work.
  expect(growth).toBeLessThan(320)
  expect(p99During).toBeLessThan(20 * p99Usual + 1_000)
})

interface Response {
  status: number
  retryAfter: string | null
}

interface Elsewhere {
  url: string
  headers: Record<string, string>
  body: Uint8Array
  times: number
}

/** Sends requests at once from a thread of their own: 400 MiB would delay what this one measures. */
async function sentElsewhere(workerData: Elsewhere): Promise<Response[]> {
  const sending = new Worker(SENDING, { eval: true, workerData })
  const [responses] = await once(sending, 'message')
  return responses
}

const SENDING = `
  const { parentPort, workerData: { url, headers, body, times } } = require('node:worker_threads')
  const send = async () => {
    const response = await fetch(url, { method: 'POST', headers, body })
    await response.arrayBuffer()
    return { status: response.status, retryAfter: response.headers.get('retry-after') }
  }
  Promise.all(Array.from({ length: times }, send)).then((responses) => parentPort.postMessage(responses))
`

function p99(waits: number[]): number {
  const sorted = waits.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY
}
