import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limitsOf } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { CLIENTS } from '../support/mcp-clients.ts'

const CONTENT = '"Rule" 👍 ü '.repeat(700)
const ROUNDS = 100

let service: TestApp
const limits = limitsOf(loadConfig({ RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_FAILURES_PER_MINUTE: '0' }))
const { responseBudget } = limits
beforeAll(async () => {
  service = await startApp({ limits })
  for (let i = 0; i < ROUNDS; i++) {
    const made = await service.post('/api/rules', { content: `${i} ${CONTENT}`, priority: -i })
    expect(made.status).toBe(201)
  }
})
afterAll(() => service.close())

const raw = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(service.url + path, { headers: { 'x-api-key': service.adminKey, ...headers } })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { response, bytes }
}

describe('a large response', () => {
  test.each([
    ['/api/rules', 'application/json; charset=utf-8'],
    ['/api/context', 'application/json; charset=utf-8'],
    ['/api/context?format=markdown', 'text/markdown; charset=utf-8'],
  ])('of GET %s is streamed with its type and ETag, and is 304 with it', async (path, type) => {
    const { response, bytes } = await raw(path)
    expect(response.status).toBe(200)
    expect(bytes.length).toBeGreaterThan(ROUNDS * CONTENT.length)
    expect(response.headers.get('transfer-encoding')).toBe('chunked')
    expect(response.headers.get('content-type')).toBe(type)
    const etag = response.headers.get('etag') ?? ''
    expect((await raw(path, { 'if-none-match': etag })).response.status).toBe(304)
    expect(responseBudget.totalBytes()).toBe(0)
  })

  test('has every rule the same as a single read', async () => {
    const { body } = await service.get('/api/rules')
    expect(body.data).toHaveLength(ROUNDS)
    for (const i of [0, ROUNDS - 1])
      expect(body.data[i]).toEqual((await service.get(`/api/rules/${body.data[i].id}`)).body)
  })

  test('of a bulk request is the same with an Idempotency-Key, and when repeated', async () => {
    const project = await service.given.project()
    const body = {
      listId: project.inbox.id,
      tasks: Array.from({ length: 20 }, (_, i) => ({ title: `${i}`, description: CONTENT.repeat(3) })),
    }
    const headers = { 'idempotency-key': 'large' }
    const made = await service.post('/api/tasks/bulk', body, { headers })
    expect(made.status).toBe(201)
    expect(made.body.data.map(({ title }: { title: string }) => title)).toEqual(
      body.tasks.map(({ title }) => title),
    )
    const again = await service.post('/api/tasks/bulk', body, { headers })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect([again.status, again.body]).toEqual([201, made.body])
    expect(responseBudget.totalBytes()).toBe(0)
  })

  test.each(Object.keys(CLIENTS))('reaches the assistant: %s', async (name) => {
    const client = await CLIENTS[name as keyof typeof CLIENTS](service.url, { 'x-api-key': service.adminKey })
    const result = await client.callTool({ name: 'get_rules', arguments: {} })
    const { structuredContent } = result as { structuredContent: { data: unknown[] } }
    expect(structuredContent.data).toHaveLength(ROUNDS)
    await client.close()
  })
})

describe('rules that change while they are sent', () => {
  test('are those that the ETag is of', async () => {
    const project = await service.given.project()
    const key = await service.given.key({ projectId: project.id, scopes: ['rules:read'] })
    const made = []
    for (let i = 0; i < ROUNDS; i++) {
      const content = `${i} ${CONTENT}`
      made.push((await service.post('/api/rules', { content, priority: 1, projectId: project.id })).body)
    }
    const before = (await service.get('/api/rules', { key })).headers.get('etag')

    const response = await fetch(`${service.url}/api/rules`, { headers: { 'x-api-key': key } })
    const last = made.at(-1)
    await service.patch(`/api/rules/${last.id}`, { content: 'New', priority: 9 })
    await service.delete(`/api/rules/${made.at(-2).id}`)
    const { data } = (await response.json()) as { data: { id: string }[] }

    expect(response.headers.get('etag')).toBe(before)
    expect(data.slice(0, ROUNDS)).toEqual(made)
    const after = await service.get('/api/rules', { key })
    expect(after.headers.get('etag')).not.toBe(before)
    expect(after.body.data[0]).toMatchObject({ id: last.id, content: 'New' })
  })
})

describe('while memory for responses is used up', () => {
  const full = ({ holder = 'another key', mib = 128 } = {}) => {
    const stream = responseBudget.send(Buffer.alloc(mib * 1024 * 1024), { holder })
    const reading = setInterval(() => stream?.read(64 * 1024), 10)
    return () => {
      clearInterval(reading)
      stream?.destroy()
    }
  }

  test('a large read is 503 with Retry-After, and a small one succeeds', async () => {
    const free = full()
    const refused = await service.get('/api/rules')
    const small = await service.get('/api/me')
    free()
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('etag')).toBeNull()
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(small.status).toBe(200)
    expect((await service.get('/api/rules')).status).toBe(200)
  })

  test('by one key, large reads with that key are 503, and those with another key succeed', async () => {
    const { body: me } = await service.get('/api/me')
    const other = await service.given.key({ scopes: ['rules:read'] })
    const free = full({ holder: me.id, mib: 48 })
    const refused = await service.get('/api/rules')
    const read = await service.get('/api/rules', { key: other })
    free()
    expect([refused.status, read.status]).toEqual([503, 200])
    expect(refused.headers.get('retry-after')).toBe('1')
  })

  describe('by assistants', () => {
    const call = (name: string, args: object) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    })
    const send = (message: object, key = service.adminKey) =>
      service.post('/mcp', message, { key, headers: { accept: 'application/json, text/event-stream' } })
    const resultOf = ({ body }: { body: unknown }) =>
      JSON.parse(/^data: (.*)$/m.exec(String(body))?.[1] ?? '{}').result

    test.each<[string, (id: string) => object]>([
      ['get_rules', () => call('get_rules', {})],
      ['get_context', () => call('get_context', {})],
      ['get_task', (id) => call('get_task', { id, budgetTokens: 1_000_000 })],
      [
        'a batch of get_task',
        (id) => [
          call('get_task', { id, budgetTokens: 1_000_000 }),
          call('get_task', { id, budgetTokens: 1_000_000 }),
        ],
      ],
      [
        'the resource',
        () => ({ ...call('', {}), method: 'resources/read', params: { uri: 'inlet://rules' } }),
      ],
    ])('%s is 503 with Retry-After', async (_, message) => {
      const project = await service.given.project()
      const description = 'ü'.repeat(65_536)
      const notes = 'ä'.repeat(65_536)
      const { id } = await service.given.task(project.inbox, { description, notes })
      const free = full()
      const refused = await send(message(id))
      free()
      expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
      expect(refused.headers.get('retry-after')).toBe('1')
      const { status } = await send(message(id))
      expect(status).toBe(200)
    })

    test('writes get their response', async () => {
      const { id } = (await service.post('/api/rules', { content: 'A' })).body
      const content = 'ü'.repeat(8_000)
      const free = full()
      const changed = await send(Array.from({ length: 30 }, () => call('update_rule', { id, content })))
      free()
      expect(changed.status).toBe(200)
      expect(resultOf(changed).structuredContent).toMatchObject({ id, content })
      await expect.poll(() => responseBudget.totalBytes()).toBe(0)
    })
  })

  test('a write gets its response', async () => {
    const project = await service.given.project()
    const tasks = Array.from({ length: 20 }, (_, i) => ({ title: `${i}`, description: CONTENT.repeat(3) }))
    const free = full()
    const made = await service.post('/api/tasks/bulk', { listId: project.inbox.id, tasks })
    free()
    expect([made.status, made.body.data.length]).toEqual([201, 20])
  })
})
