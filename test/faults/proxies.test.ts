import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../support/free-port.ts'
import { ADMIN_KEY, cleanUp, type Inlet, spawnInlet } from '../support/inlet-process.ts'
import { measured } from '../support/metrics.ts'
import { freshDatabase } from '../support/postgres.ts'
import { sendJson } from '../support/send-json.ts'
import { listenTo } from '../support/stream.ts'
import { adaptedCaddyfile, PROXIES, PUBLIC_URL, type WebProxy } from '../support/web-proxies.ts'

const MIB = 1024 * 1024
const COMPOSE_FILE = fileURLToPath(new URL('../../docs/proxy/docker-compose.yml', import.meta.url))
const KEY = { 'x-api-key': ADMIN_KEY }
const JSON_TYPE = { 'content-type': 'application/json' }
const MCP = { ...KEY, ...JSON_TYPE, accept: 'application/json, text/event-stream' }
/** An event that a proxy buffers arrives with the next heartbeat at the earliest, which is after 15 s. */
const PROXY_MS = 1_000

type Name = keyof typeof PROXIES

let database: Awaited<ReturnType<typeof freshDatabase>>
let instances: { inlet: Inlet; url: string }[]
const proxies = new Map<Name, WebProxy>()
let starting: Promise<unknown>[] = []

beforeAll(async () => {
  const ports: [number, number] = [await freePort(), await freePort()]
  database = await freshDatabase()
  instances = ports.map((port) => ({
    url: `http://127.0.0.1:${port}`,
    inlet: spawnInlet({
      env: {
        PORT: String(port),
        DATABASE_URL: database.connectionString,
        PUBLIC_URL,
        TRUST_PROXY: 'true',
        RATE_LIMIT_FAILURES_PER_MINUTE: '1',
      },
    }),
  }))
  await Promise.all(instances.map(({ inlet }) => inlet.url))
  const names = Object.keys(PROXIES) as Name[]
  starting = names.map(async (name) => proxies.set(name, await PROXIES[name]({ ports })))
  await Promise.all(starting)
})

afterAll(async () => {
  // One may still be starting when the other one failed.
  await Promise.allSettled(starting)
  await Promise.all([...proxies.values()].map((proxy) => proxy.stop()))
  await cleanUp()
  await database.drop()
})

describe.each([
  { name: 'nginx', clients: ['127.0.0.2', '127.0.0.3'] },
  { name: 'Caddy', clients: ['127.0.0.4', '127.0.0.5'] },
] as const)('behind $name', ({ name, clients }) => {
  const proxy = () => {
    const found = proxies.get(name)
    if (!found) throw new Error(`${name} does not run.`)
    return found
  }
  const post = (path: string, body: object, headers: Record<string, string> = KEY) =>
    proxy().send({ method: 'POST', path, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) })

  test('the dashboard and the API work over https', async () => {
    const page = await proxy().send({ path: '/' })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    // Right after the start, a busy machine returns 503.
    const readTasks = async () => (await proxy().send({ path: '/api/tasks', headers: KEY })).status
    await expect.poll(readTasks).toBe(200)
  })

  test('a session has a Secure cookie, and can write', async () => {
    const { status, headers } = await post('/api/sessions', { key: ADMIN_KEY }, { origin: proxy().origin })
    expect(status).toBe(201)
    const cookie = headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/; Secure(;|$)/)
    const session = { cookie: cookie.split(';')[0] ?? '' }
    const createFrom = async (origin: string) =>
      (await post('/api/tasks', { title: 'From a page' }, { ...session, origin })).status
    expect(await createFrom(proxy().origin)).toBe(201)
    expect(await createFrom('https://other.test')).toBe(403)
  })

  test('an event arrives as soon as without the proxy, and a client that leaves ends its stream', async () => {
    const [one, other] = instances.map(({ url }) => url) as [string, string]
    const direct = await listenTo({ url: one, adminKey: ADMIN_KEY })
    const proxied = await proxy().follow({ path: '/api/stream', headers: KEY })
    expect([proxied.status, proxied.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    for (const listener of [direct, proxied]) await expect.poll(() => listener.comments).toBeGreaterThan(0)

    const created = await sendJson(`${other}/api/tasks`, { method: 'POST', body: { title: 'An event' } })
    const { id } = (await created.json()) as { id: string }
    const [directAt, proxiedAt] = await Promise.all(
      [direct, proxied].map(async (listener) => {
        await listener.until((events) => events.some(({ data }) => data.taskId === id))
        return performance.now()
      }),
    )
    expect((proxiedAt ?? 0) - (directAt ?? 0)).toBeLessThan(PROXY_MS)

    direct.close()
    proxied.close()
    await expect.poll(openStreams).toBe(0)
  })

  test('a long poll returns with the change', async () => {
    const { body } = await proxy().send({ path: '/api/changes', headers: KEY })
    const polled = proxy().send({ path: `/api/changes?wait=60&cursor=${body.nextCursor}`, headers: KEY })
    const created = await post('/api/tasks', { title: 'A change' })
    const createdAt = performance.now()
    expect((await polled).body.data).toMatchObject([{ type: 'task.created', taskId: created.body.id }])
    expect(performance.now() - createdAt).toBeLessThan(PROXY_MS)
  })

  test('the stream of an assistant begins at once', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const stream = await proxy().follow({
      method: 'POST',
      path: '/mcp',
      headers: { ...MCP, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { _meta: meta, notifications: { toolsListChanged: true } },
      }),
    })
    const [event] = await stream.until((events) => events.length > 0)
    expect(event?.data).toMatchObject({ jsonrpc: '2.0' })
    stream.close()
  })

  test('invalid credentials count for the address of the client, whatever it says it is', async () => {
    const attempt = async (from: string, forged: string) => {
      const headers = {
        'x-api-key': 'inl_wrong',
        'x-forwarded-for': forged,
        'x-real-ip': forged,
        forwarded: `for=${forged}`,
      }
      return (await proxy().send({ path: '/api/me', headers, from })).status
    }
    const statuses: number[] = []
    for (let nth = 1; nth <= 6; nth++) statuses.push(await attempt(clients[0], `10.0.0.${nth}`))
    // One for each instance.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(instances.length)
    expect(statuses.at(-1)).toBe(429)
    expect(await attempt(clients[1], '10.0.0.6')).toBe(401)
  })

  test('Inlet decides which body is too large, and no body is written to the disk', async () => {
    const { listId } = (await post('/api/tasks', { title: 'Small' })).body
    const padded = (bytes: number) => `{"listId":"${listId}","tasks":[{"title":"Large"}]${' '.repeat(bytes)}}`
    const send = (bytes: number) =>
      proxy().send({
        method: 'POST',
        path: '/api/tasks/bulk',
        headers: { ...KEY, ...JSON_TYPE },
        body: padded(bytes),
      })
    expect(await send(3 * MIB)).toMatchObject({ status: 201, body: { created: 1 } })
    expect(await send(4 * MIB)).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
    expect(proxy().log()).not.toContain('temporary file')
  })
})

test('requests that are safe to repeat do not fail when an instance is killed', async () => {
  const [killed] = instances
  let isKilled = false
  const clients = [...proxies.values()].map(async (proxy) => {
    const statuses: number[] = []
    for (let rest = 20; rest > 0; rest -= isKilled ? 1 : 0)
      statuses.push((await proxy.send({ path: '/api/tasks', headers: KEY })).status)
    return statuses
  })
  killed?.inlet.process.kill('SIGKILL')
  await killed?.inlet.ended
  isKilled = true
  for (const statuses of await Promise.all(clients)) {
    expect(statuses.length).toBeGreaterThanOrEqual(20)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
  }
})

test('Caddy finds the containers of docs/proxy/docker-compose.yml', () => {
  const resets = { tag: '!reset', collection: 'seq' } as const
  const { services } = parse(readFileSync(COMPOSE_FILE, 'utf8'), { customTags: [resets] })
  const upstreams = services.caddy.environment.INLET_UPSTREAMS.replace(/\$\{PORT:-(\d+)\}/, '$1')
  const config = adaptedCaddyfile({ PUBLIC_URL: 'https://inlet.example.com', INLET_UPSTREAMS: upstreams })
  expect(JSON.stringify(config)).toContain(
    '"dynamic_upstreams":{"name":"inlet","port":"3000","refresh":5000000000,"source":"a"}',
  )
})

const sumOf = async (read: (metrics: string) => number) => {
  const values = await Promise.all(
    instances.map(async ({ url }) => read(await (await sendJson(`${url}/metrics`)).text())),
  )
  return values.reduce((sum, value) => sum + value, 0)
}

const openStreams = () => sumOf((metrics) => measured(metrics, 'inlet_stream_clients'))
