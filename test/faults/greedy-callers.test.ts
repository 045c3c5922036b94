import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reportFault } from '../support/fault-report.ts'
import { ADMIN_KEY, cleanUp, connectionStringOf, newDataDir, spawnInlet } from '../support/inlet-process.ts'

const SECRET = 'the-secret-of-the-fault-test'
const TASKS = 20_000

let url: string
let readers: string[]
let otherProjectId: string
beforeAll(async () => {
  const env = { WEBHOOK_SECRET: SECRET, RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_RECEIVER_PER_MINUTE: '0' }
  const dataDir = await newDataDir()
  url = await spawnInlet({ dataDir, env }).url
  await fill(await connectionStringOf(dataDir))
  const made = Array.from({ length: 6 }, () => sent('POST', '/api/keys', { body: { name: 'Reader' } }))
  readers = (await Promise.all(made)).map(({ key }) => key)
}, 300_000)
afterAll(cleanUp)

async function fill(connectionString: string) {
  const { id: taskId } = await sent('POST', '/api/tasks', { body: { title: 'First' } })
  const database = new pg.Client({ connectionString })
  await database.connect()
  await database.query(
    `insert into tasks (id, title, description, status, priority, source, project_id, list_id, labels, assignees,
       metadata, created_by_type, created_by_name, created_at, updated_at, version)
     select gen_random_uuid(), 'Task ' || n, $2, status, priority, source, project_id, list_id, labels, assignees,
       metadata, created_by_type, created_by_name, clock_timestamp(), clock_timestamp(), 1
     from tasks, generate_series(1, $3) as n where id = $1`,
    [taskId, 'What happened before, and what should have. '.repeat(10), TASKS],
  )
  // A thousand rules of twenty long globs, half of which begin with a class.
  await database.query(
    `insert into rules (id, content, priority, is_active, paths, version, created_at, updated_at, updated_by_type,
       updated_by_name)
     select gen_random_uuid(), 'Rule ' || n, n, true, (
       select array_agg(case m % 2 when 0 then 'packages/{web,api,worker}-' else '[a-z]*-' end || n
         || '/**/src/*/**/' || repeat('folder-of-' || m || '/**/', 8) || '[a-z]*.{ts,tsx,css}') from generate_series(1, 20) as m
     ), 1, clock_timestamp(), clock_timestamp(), 'system', 'Inlet' from generate_series(1, 1000) as n`,
  )
  // As many of another project, of whose globs one file has all words: each is compiled.
  otherProjectId = (await sent('POST', '/api/projects', { body: { name: 'Other' } })).id
  await database.query(
    `insert into rules (id, project_id, content, priority, is_active, paths, version, created_at, updated_at,
       updated_by_type, updated_by_name)
     select gen_random_uuid(), $1, 'Rule ' || n, n, true, (
       select array_agg('**/*[!' || n || 'x' || m || ']' || repeat('[a-z]', 28) || '*.{[0-9],b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}')
         from generate_series(1, 20) as m
     ), 1, clock_timestamp(), clock_timestamp(), 'system', 'Inlet' from generate_series(1, 1000) as n`,
    [otherProjectId],
  )
  await database.query('analyze tasks')
  await database.end()
}

interface Sent {
  key?: string | undefined
  body?: object
  headers?: Record<string, string>
}

async function send(method: string, path: string, { key = ADMIN_KEY, body, headers }: Sent = {}) {
  const json = body && { 'content-type': 'application/json' }
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': key, ...json, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

async function sent(method: string, path: string, options?: Sent) {
  const { status, text } = await send(method, path, options)
  expect(status).toBeLessThan(300)
  return JSON.parse(text)
}

/** What others do, one request after another, until the signal: how long each takes. */
async function others(signal: AbortSignal): Promise<number[]> {
  const waits: number[] = []
  const key = readers[0]
  const event = () => ({
    event: 'feedback_submitted',
    distinct_id: 'user-1',
    uuid: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
    properties: { sentiment: 'frustrated', trigger: 'manual', app_version: '2.3.1' },
  })
  const requests = [
    () => send('GET', '/api/tasks', { key }),
    () => send('POST', '/api/tasks', { key, body: { title: 'Another' } }),
    () => send('GET', '/api/projects', { key }),
    () =>
      send('POST', '/api/analytics/webhook', {
        body: event(),
        headers: { authorization: `Bearer ${SECRET}` },
      }),
  ]
  while (!signal.aborted) {
    for (const request of requests) {
      const since = performance.now()
      const { status } = await request()
      waits.push(performance.now() - since)
      expect(status).toBeLessThan(300)
    }
    await sleep(5)
  }
  return waits
}

/** Repeats requests, so many at a time, until the signal: how many responses had each status. */
async function flood(request: () => Promise<{ status: number }>, count: number, signal: AbortSignal) {
  const statuses = new Map<number, number>()
  const repeat = async () => {
    while (!signal.aborted) {
      const { status } = await request()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: count }, repeat))
  return statuses
}

/** The latency of others beside four ordinary readers, and beside somebody greedy. */
async function compared(greedy: () => Promise<{ status: number }>, count: number) {
  const ordinary = await during((signal) =>
    Promise.all(readers.slice(1, 5).map((key) => flood(() => send('GET', '/api/tasks', { key }), 1, signal))),
  )
  const beside = await during((signal) => flood(greedy, count, signal))
  const p99s = { usual: p99(ordinary.waits), greedy: p99(beside.waits) }
  return { ...p99s, statuses: beside.result }
}

async function during<T>(load: (signal: AbortSignal) => Promise<T>) {
  const ending = new AbortController()
  const loading = load(ending.signal)
  const waiting = others(ending.signal)
  await sleep(6_000)
  ending.abort()
  return { result: await loading, waits: await waiting }
}

function p99(waits: number[]): number {
  const sorted = waits.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY
}

const listed = (statuses: Map<number, number>) =>
  [...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')

const search = (key: string | undefined) => send('GET', '/api/tasks?q=q&sort=updatedAt', { key })

const batch = (key: string | undefined) =>
  send('POST', '/mcp', {
    key,
    headers: { accept: 'application/json, text/event-stream' },
    body: Array.from({ length: 100 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'list_tasks', arguments: { q: 'q' } },
    })),
  })

const csv = (key: string | undefined) => send('GET', '/api/tasks', { key, headers: { accept: 'text/csv' } })

const PATHS = ['packages/web-7/src/app/folder-of-3/index.ts', 'docs/readme.md', 'src/services/tasks/index.ts']
const context = (key: string | undefined, query = '') =>
  send('GET', `/api/context?${new URLSearchParams({ paths: PATHS })}${query}`, { key })
const compiling = (key: string | undefined) => context(key, `&projectId=${otherProjectId}`)

test.each([
  ['95 searches for one letter at a time, by one key', search, 95],
  ['batches of 100 AI tool calls, by one key', batch, 1],
  ['19 downloads of CSV at a time, by one key', csv, 19],
  ['4 requests at a time for the context of files, with a thousand rules of twenty long globs', context, 4],
  ['4 at a time, with as many globs of which each is compiled', compiling, 4],
])('%s delay others no more than ordinary readers do', async (fault, request, count) => {
  const greedyKey = readers[5]
  const { usual, greedy, statuses } = await compared(() => request(greedyKey), count)
  expect([...statuses.keys()].filter((status) => ![200, 429].includes(status))).toEqual([])
  reportFault({
    fault,
    times: 1,
    requests: [...statuses.values()].reduce((sum, each) => sum + each, 0),
    note: `${listed(statuses)}; p99 of another key and of feedback ${Math.round(greedy)} ms, beside four readers ${Math.round(usual)} ms`,
  })
  expect(greedy).toBeLessThan(3 * usual + 50)
})
