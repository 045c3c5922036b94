import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { ADMIN_KEY, cleanUp, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { memoryOf, peakMemoryOf } from '../support/memory.ts'
import { slowClient, unfinishedPost } from '../support/slow-clients.ts'

const MIB = 1024 * 1024
const SECRET = 'a-webhook-secret-for-tests'

afterEach(cleanUp)

test('400 connections that withhold the end of a body are cut, and hold little memory until then', {
  timeout: 120_000,
}, async () => {
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
  ]
  const { peak, result: clients } = await peakMemoryOf(inlet.process.pid, async () => {
    const clients = []
    for (let i = 0; i < 200; i++) {
      for (const { at, path, headers } of doors) {
        clients.push(await slowClient(at, unfinishedPost(path, headers, MIB, MIB - 1)))
      }
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
