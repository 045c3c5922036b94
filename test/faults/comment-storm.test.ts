import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ApiResponse } from '../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'
import { commentDelivery } from '../support/code-host-comments.ts'
import { deliver } from '../support/code-host-deliveries.ts'
import { reportFault } from '../support/fault-report.ts'
import { ADMIN_KEY, cleanUp, type Inlet, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { memoryOf, peakMemoryOf } from '../support/memory.ts'

const MIB = 1024 * 1024
const COMMENTS = 5_000
const SENDERS = 16
const BODY = 'A comment of a storm. '.repeat(50)

let host: CodeHostFake
let inlet: Inlet
let url: string
beforeAll(async () => {
  host = await startCodeHost()
  const env = { CODEHOST_API_URLS: host.url, RATE_LIMIT_RECEIVER_PER_MINUTE: '0' }
  inlet = spawnInlet({ dataDir: await newDataDir(), env })
  url = await inlet.url
}, 60_000)
afterAll(async () => {
  await host.close()
  await cleanUp()
})

async function send(method: string, path: string, body?: object): Promise<ApiResponse['body']> {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', prefer: 'wait=60' }
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  expect(response.status).toBeLessThan(300)
  return response.json()
}

async function connected(name: string) {
  const repository = host.repository(name)
  repository.issue()
  const { id } = await send('POST', '/api/projects', { name })
  const body = { repository: name, schedule: 'off', comments: true }
  const { webhook } = await send('PUT', `/api/projects/${id}/codehost`, body)
  const sync = () => send('POST', `/api/codehost/${id}/sync`)
  const count = async () => (await send('GET', `/api/tasks?projectId=${id}`)).data[0]?.commentCount
  return { id, repository, webhook, sync, count }
}

test('a storm of 5,000 comments is stored, by one poll and by push, in bounded memory', async () => {
  const polled = await connected('acme/polled-storm')
  await polled.sync()
  for (let i = 0; i < COMMENTS; i++) polled.repository.comment(1, { body: BODY }, i % 7 === 0 ? 1 : 0)
  const since = host.requests.length
  const before = memoryOf(inlet.process.pid)
  const poll = await peakMemoryOf(inlet.process.pid, () => timed(polled.sync))
  expect(poll.result.value.comments).toEqual({ created: COMMENTS, updated: 0, deleted: 0 })
  expect(await polled.count()).toBe(COMMENTS)
  // One for each page of a hundred, pages within one second and their overlap included.
  expect(host.requests.length - since).toBeLessThan((COMMENTS / 100) * 1.2)
  expect(poll.peak - before).toBeLessThan(256 * MIB)

  const { repository, webhook, id, count } = await connected('acme/pushed-storm')
  const about = { api: host.url, repository: repository.about }
  const deliveries = Array.from({ length: COMMENTS }, () =>
    commentDelivery(repository.comment(1, { body: BODY }, 0), { ...about, action: 'created' }),
  )
  const beforePush = memoryOf(inlet.process.pid)
  const push = await peakMemoryOf(inlet.process.pid, () =>
    timed(async () => {
      const senders = Array.from({ length: SENDERS }, async () => {
        for (let next = deliveries.pop(); next; next = deliveries.pop()) {
          expect((await deliver(webhook, next, { deliveryId: randomUUID() })).status).toBe(202)
        }
      })
      await Promise.all(senders)
      await vi.waitFor(async () => expect(await count()).toBe(COMMENTS), { timeout: 120_000, interval: 200 })
    }),
  )
  expect(push.peak - beforePush).toBeLessThan(256 * MIB)
  expect((await send('GET', `/api/deliveries?projectId=${id}&outcome=failed`)).data).toEqual([])
  const mib = (bytes: number) => Math.round(bytes / MIB)
  reportFault({
    fault: 'a storm of 5,000 comments of 1 KiB, by one poll and by push',
    times: 1,
    requests: COMMENTS,
    note: `polled in ${poll.result.seconds} s with ${mib(poll.peak - before)} MiB more memory; pushed and applied in ${push.result.seconds} s with ${mib(push.peak - beforePush)}`,
  })
}, 300_000)

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; seconds: number }> {
  const since = performance.now()
  const value = await work()
  return { value, seconds: Math.round(performance.now() - since) / 1_000 }
}
