import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { reportFault } from '../support/fault-report.ts'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { freshDatabase } from '../support/postgres.ts'
import { SENDING_ENV, startReceiver } from '../support/webhooks.ts'

const CHANGES = 10_000
const BATCH = 50
/** From one batch to the next: 200 changes a second. */
const BATCH_MS = 250

afterEach(cleanUp)

test(`19 dead receivers of 20 do not delay the other one in a burst of ${CHANGES} changes`, {
  timeout: 240_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const inlet = spawnInlet({ env: { DATABASE_URL: connectionString, ...SENDING_ENV } })
  const url = await inlet.url
  const post = async (path: string, body: object) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(201)
    return response.json()
  }
  const receiver = await startReceiver()
  // It accepts connections, and never responds.
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const silentPort = (silent.address() as { port: number }).port
  const dead = (n: number) => `http://127.0.0.1:${n % 2 === 0 ? silentPort : 9}/${n}`
  for (let n = 0; n < 19; n++) {
    await post('/api/webhooks', { name: `Dead ${n}`, url: dead(n), types: ['task.created'] })
  }
  await post('/api/webhooks', { name: 'Healthy', url: receiver.url, types: ['task.created'] })
  const { listId } = (await post('/api/tasks', { title: 'First' })) as { listId: string }

  const title = (n: number) => `Task ${n}`
  for (let n = 0; n < CHANGES; n += BATCH) {
    const tasks = Array.from({ length: BATCH }, (_, index) => ({ title: title(n + index) }))
    const pause = sleep(BATCH_MS)
    await post('/api/tasks/bulk', { listId, tasks })
    await pause
  }
  await expect.poll(() => receiver.received.length, { timeout: 120_000 }).toBe(CHANGES + 1)
  const delays = receiver.received
    .map(({ at, body }) => at - Date.parse(body.data.createdAt))
    .toSorted((one, other) => one - other)
  const p95 = delays[Math.floor(delays.length * 0.95)] ?? Number.NaN
  reportFault({
    fault: '19 of 20 webhooks dead',
    times: 1,
    note: `the other one: p50 ${delays[Math.floor(delays.length / 2)]} ms, p95 ${p95} ms after the change`,
  })
  expect(p95).toBeLessThan(2_000)
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
  silent.close()
  await receiver.close()
  await drop()
})
