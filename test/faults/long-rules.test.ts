import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiResponse } from '../support/app.ts'
import { ADMIN_KEY, cleanUp, type Inlet, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { boundedDelay, WATCHED } from '../support/loop-delay.ts'
import { memoryOf, peakMemoryOf } from '../support/memory.ts'

const MIB = 1024 * 1024
const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }

let inlet: Inlet
let url: string
let taskId: string

beforeAll(async () => {
  inlet = spawnInlet({ dataDir: await newDataDir(), env: WATCHED })
  url = await inlet.url
  const content = 'Rule text. '.repeat(728).slice(0, 8_000)
  for (let i = 0; i < 1_000; i += 20) {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => send('/api/rules', { body: { content } })),
    )
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
  }
  const long = '<😀>'.repeat(16_000)
  taskId = (await send('/api/tasks', { body: { title: 'Long', description: long } })).body.id
  expect((await send(`/api/tasks/${taskId}`, { method: 'PATCH', body: { notes: long } })).status).toBe(200)
}, 120_000)
afterAll(cleanUp)

async function send(path: string, { method = 'POST', body }: { method?: string; body: object }) {
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as ApiResponse['body'] }
}

/** Reads a response without keeping it. */
async function lengthOf(path: string, body?: object) {
  const response = await fetch(url + path, {
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
  }
  return { status: response.status, bytes }
}

const message = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const call = (name: string, args: object) => message('tools/call', { name, arguments: args })
const batchOf = (count: number, one: object) => Array.from({ length: count }, (_, id) => ({ ...one, id }))

describe('a response with a thousand long rules, or a hundred long tasks', () => {
  test.each<[string, { path?: string; mib: number; body?: () => object; maxMib?: number }]>([
    ['the rules', { path: '/api/rules', mib: 7 }],
    ['the context', { path: '/api/context', mib: 7 }],
    ['the context as Markdown', { path: '/api/context?format=markdown', mib: 7 }],
    ['the context within a budget', { path: '/api/context?budgetTokens=1500000', mib: 4 }],
    ['get_rules', { mib: 14, body: () => call('get_rules', {}) }],
    ['get_context', { mib: 14, body: () => call('get_context', {}) }],
    ['the resource', { mib: 7, body: () => message('resources/read', { uri: 'inlet://rules' }) }],
    ['the prompt', { mib: 7, body: () => message('prompts/get', { name: 'session_start' }) }],
    ['a batch of get_rules', { mib: 42, body: () => batchOf(3, call('get_rules', {})) }],
    // Their texts are in memory together.
    [
      'a batch of get_task',
      {
        mib: 63,
        body: () => batchOf(100, call('get_task', { id: taskId, budgetTokens: 1_000_000 })),
        maxMib: 192,
      },
    ],
  ])('blocks the event loop for at most 50 ms, and holds little memory: %s', async (_, given) => {
    const { path = '/mcp', mib, body, maxMib = 64 } = given
    const before = memoryOf(inlet.process.pid)
    const { peak, result } = await peakMemoryOf(inlet.process.pid, () =>
      boundedDelay(inlet, () => lengthOf(path, body?.())),
    )
    expect(result.status).toBe(200)
    expect(result.bytes).toBeGreaterThan(mib * MIB)
    // Measured: at most 20 MiB, and 140 for the tasks.
    expect(peak - before).toBeLessThan(maxMib * MIB)
  })
})
