import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiResponse } from '../support/app.ts'
import { heldMemoryOf } from '../support/held-memory.ts'
import { cleanUp, connectionStringOf, type Inlet, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { boundedDelay, WATCHED } from '../support/loop-delay.ts'
import { type JsonRequest, sendJson } from '../support/send-json.ts'

const MIB = 1024 * 1024
/** As much as one task may hold, in letters of four bytes: a hundred of them have 50 MiB. */
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
  for (let i = 0; i < 100; i += 10) {
    const tasks = named.slice(i, i + 10).map((task) => ({ ...task, description: LONGEST }))
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

describe('a small request about 50 MiB of tasks', () => {
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
      const send = () => call(path, { method, body: bodyOf() })
      const { status } = await boundedDelay(inlet, send)
      expect([201, 207, 200]).toContain(status)
      const { held } = await heldMemoryOf(inlet, send)
      // Measured: 3 MiB.
      expect(held).toBeLessThan(12 * MIB)
    },
  )

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
