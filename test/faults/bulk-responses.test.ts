import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiResponse } from '../support/app.ts'
import { heldMemoryOf } from '../support/held-memory.ts'
import {
  ADMIN_KEY,
  cleanUp,
  connectionStringOf,
  type Inlet,
  newDataDir,
  spawnInlet,
} from '../support/inlet-process.ts'
import { boundedDelay, WATCHED } from '../support/loop-delay.ts'
import { memoryOf, peakMemoryOf } from '../support/memory.ts'
import { type JsonRequest, sendJson } from '../support/send-json.ts'
import { slowClient } from '../support/slow-clients.ts'

const MIB = 1024 * 1024
/** As much as one task may hold, in letters of four bytes: a hundred of them are 50 MiB. */
const LONGEST = '😀'.repeat(65_536)

let inlet: Inlet
let url: string
let dataDir: string
let listId: string
let ids: string[]
const named = Array.from({ length: 100 }, (_, n) => ({ title: `Task ${n}`, externalId: `long-${n}` }))

beforeAll(async () => {
  dataDir = await newDataDir()
  inlet = spawnInlet({ dataDir, env: WATCHED })
  url = await inlet.url
  listId = (await call('/api/tasks', { method: 'POST', body: { title: 'Where' } })).body.listId
  ids = []
  for (let i = 0; i < 100; i += 20) {
    const tasks = named.slice(i, i + 20).map((task) => ({ ...task, description: LONGEST }))
    const made = await call('/api/tasks/bulk', { method: 'POST', body: { listId, tasks } })
    ids.push(...made.body.data.map(({ id }: { id: string }) => id))
  }
  expect(
    (await call('/api/tasks/bulk', { method: 'PATCH', body: { ids, change: { notes: LONGEST } } })).status,
  ).toBe(200)
}, 120_000)
afterAll(cleanUp)

/** The API has no way to change the scopes of a key. */
async function changeScopes(id: string, key: string, scopes: string[]) {
  const client = new pg.Client({ connectionString: await connectionStringOf(dataDir) })
  await client.connect()
  await client.query('update api_keys set scopes = $2 where id = $1', [id, scopes])
  await client.end()
  const scopesNow = async () =>
    ((await (await fetch(`${url}/api/me`, { headers: { 'x-api-key': key } })).json()) as { scopes: string[] })
      .scopes
  // Credentials are cached for 3 s.
  await expect.poll(scopesNow).toEqual(scopes)
}

async function call(path: string, request: JsonRequest) {
  const response = await sendJson(url + path, request)
  return { status: response.status, body: (await response.json()) as ApiResponse['body'] }
}

describe('a small request with a response of 50 MiB', () => {
  test.each<[string, string, string, () => object]>([
    ['that finds a hundred tasks', 'POST', '/api/tasks/bulk', () => ({ listId, tasks: named })],
    [
      'that finds a hundred tasks, with results',
      'POST',
      '/api/tasks/bulk?onError=continue',
      () => ({ listId, tasks: named }),
    ],
    [
      'that changes a hundred tasks',
      'PATCH',
      '/api/tasks/bulk',
      () => ({ ids, change: { priority: 'high' } }),
    ],
    [
      'that compares a hundred descriptions',
      'PATCH',
      '/api/tasks/bulk',
      () => ({ ids, change: { description: LONGEST } }),
    ],
  ])(
    'blocks the event loop for at most 50 ms, and holds little memory: %s',
    async (_name, method, path, bodyOf) => {
      // Its client reads without keeping what it read.
      const send = async () => {
        const response = await fetch(url + path, {
          method,
          headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
          body: JSON.stringify(bodyOf()),
        })
        let bytes = 0
        for await (const chunk of response.body ?? []) bytes += chunk.length
        return { status: response.status, bytes }
      }
      const result = await boundedDelay(inlet, send)
      expect([201, 207, 200]).toContain(result.status)
      expect(result.bytes).toBeGreaterThan(50 * MIB)
      const { held } = await heldMemoryOf(inlet, send)
      // Measured: 3 MiB.
      expect(held).toBeLessThan(12 * MIB)
    },
  )

  test('holds little memory for 50 clients that never read it', async () => {
    const body = JSON.stringify({ listId, tasks: named })
    const head = `POST /api/tasks/bulk HTTP/1.1\r\nHost: inlet\r\nX-API-Key: ${ADMIN_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    const before = memoryOf(inlet.process.pid)
    const { peak, result: clients } = await peakMemoryOf(inlet.process.pid, async () => {
      const clients = []
      for (let i = 0; i < 50; i++)
        clients.push(await slowClient(url, { bytes: [head, body], isReading: false }))
      const me = await fetch(`${url}/api/me`, { headers: { 'x-api-key': ADMIN_KEY } })
      expect(me.status).toBe(200)
      const { body: read } = await call('/api/tasks/bulk', { method: 'POST', body: { listId, tasks: named } })
      expect(read.data).toHaveLength(100)
      return clients
    })
    for (const { socket } of clients) socket.destroy()
    // Measured: 230 to 260 MiB. Each has a first portion, and the texts that are written to its socket.
    expect(peak - before).toBeLessThan(50 * 8 * MIB)
  })

  test('blocks the event loop for at most 50 ms when it is replayed to a key that lost tasks:read', async () => {
    const scopes = ['tasks:read', 'tasks:write']
    const { id, key } = (await call('/api/keys', { method: 'POST', body: { name: 'Writer', scopes } })).body
    const tasks = [{ title: 'New' }, ...named.slice(0, 50)]
    const headers = { 'x-api-key': key, 'idempotency-key': 'long' }
    const send = () => call('/api/tasks/bulk', { method: 'POST', body: { listId, tasks }, headers })
    expect((await send()).status).toBe(201)
    await changeScopes(id, key, ['tasks:write'])
    const { body } = await boundedDelay(inlet, send)
    expect(body.data).toHaveLength(tasks.length)
    for (const item of body.data) expect(Object.keys(item)).toEqual(['id', 'version'])
  })
})
