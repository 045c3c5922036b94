import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { limitsOf } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { slowClient, unfinishedPost } from '../support/slow-clients.ts'

const MIB = 1024 * 1024
const config = loadConfig({ RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_FAILURES_PER_MINUTE: '0' })
const limits = limitsOf(config)

let service: TestApp
const log = new PassThrough()
const logged: string[] = []
log.on('data', (line) => logged.push(String(line)))
const clients: Awaited<ReturnType<typeof slowClient>>[] = []
beforeAll(async () => {
  service = await startApp({ limits, logger: pino({ level: 'warn' }, log) })
})
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.destroy()
})
afterAll(() => service.close())

interface UnfinishedRequest {
  path: string
  key: string
  length: number
  sent: number
}

async function unfinished(to: TestApp, { path, key, length, sent }: UnfinishedRequest) {
  const client = await slowClient(to.url, {
    bytes: unfinishedPost(path, { headers: { 'X-API-Key': key }, length, sent }),
  })
  clients.push(client)
  return client
}

const bulkOf = (listId: string, count: number) => ({
  listId,
  tasks: Array.from({ length: count }, (_, n) => ({ title: `${n}`, description: 'x'.repeat(60_000) })),
})

describe('a large batch', () => {
  test('that is announced and not sent reserves no memory', async () => {
    const { inbox } = await service.given.project()
    const key = await service.given.key({ scopes: ['tasks:write'] })
    for (let i = 0; i < 3; i++)
      await unfinished(service, { path: '/api/tasks/bulk', key, length: 4 * MIB, sent: 1_000 })
    await expect.poll(() => limits.bodyIntake.totalBytes()).toBe(3_000)

    expect((await service.post('/api/tasks/bulk', bulkOf(inbox.id, 60))).status).toBe(201)
  })

  test('reserves its memory while it is processed, also when its sender disconnects', async () => {
    const { inbox } = await service.given.project()
    const lock = await service.connect()
    const body = JSON.stringify(bulkOf(inbox.id, 20))
    const key = await service.given.key()
    const leaving = new AbortController()
    const send = (signal?: AbortSignal) =>
      fetch(`${service.url}/api/tasks/bulk`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body,
        ...(signal && { signal }),
      })
    try {
      await lock.query('begin; lock table tasks in access exclusive mode')
      const before = limits.bodyIntake.totalBytes()
      const gone = send(leaving.signal).catch(() => 'gone')
      await expect.poll(() => limits.bodyIntake.totalBytes()).toBe(before + body.length)
      leaving.abort()
      expect(await gone).toBe('gone')
      const { socket } = await slowClient(service.url, { bytes: [] })
      socket.destroy()
      expect((await service.get('/api/me')).status).toBe(200)
      expect(limits.bodyIntake.totalBytes()).toBe(before + body.length)

      await lock.query('rollback')
      await expect.poll(() => limits.bodyIntake.totalBytes()).toBe(before)
    } finally {
      await lock.query('rollback')
      lock.release()
    }
  })
})

test('a body over our limits is one warning in the log', async () => {
  const holders = ['a', 'b', 'c'].map((holder) => {
    const stream = new PassThrough()
    const body = limits.bodyIntake.receive(stream, {
      maxBytes: 48 * MIB,
      holder,
      tooLarge: () => new Error('too large'),
    })
    stream.end(Buffer.alloc(42 * MIB))
    return body
  })
  const bodies = await Promise.all(holders)
  logged.length = 0
  const refused = await service.post('/api/tasks/bulk', bulkOf('x', 60))
  for (const { release } of bodies) release()

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, reason: expect.any(String) }])
  expect(logged.join('')).not.toContain('stack')
})

describe('signing in', () => {
  test('accepts 8 KiB at most, and the longest key, password, and invite', async () => {
    const post = (path: string, body: unknown) => service.post(path, body, { key: null })
    const refused = await post('/api/sessions', { key: 'x'.repeat(9_000) })
    expect([refused.status, refused.body.code]).toEqual([413, 'body_too_large'])
    const escaped = (length: number) => '\\u0061'.repeat(length)
    const emoji = (length: number) => '\\ud83d\\ude00'.repeat(length)
    expect((await post('/api/sessions', `{"key":"${escaped(255)}"}`)).status).toBe(401)
    const person = `{"username":"${escaped(39)}","password":"${emoji(128)}"`
    expect((await post('/api/sessions', `${person}}`)).status).toBe(401)
    const invite = `${person},"name":"${emoji(100)}","secret":"${escaped(255)}"}`
    expect((await post('/api/invites/accept', invite)).status).toBe(410)
  })
})

test('a key over its rate limit is rejected before its body arrives', async () => {
  const limited = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '2' } })
  for (let i = 0; i < 2; i++) expect((await limited.get('/api/me')).status).toBe(200)
  const { received, socket } = await unfinished(limited, {
    path: '/api/tasks',
    key: limited.adminKey,
    length: MIB,
    sent: 10,
  })
  await expect.poll(() => received(), { timeout: 5_000 }).toMatch(/^HTTP\/1.1 429 /)
  socket.destroy()
  await limited.close()
})

test('a response that is read a few bytes at a time is cut off', async () => {
  const { default: fastify } = await import('fastify')
  const { timeouts } = await import('../../src/plugins/timeouts.ts')
  const app = fastify()
  await app.register(timeouts, { checkMs: 50, pace: { windowMs: 500, minBytes: 10_000 } })
  app.get('/', () => Buffer.alloc(64 * MIB))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const cut = once(app.server, 'request').then(([, response]) => once(response, 'close'))
  const client = await slowClient(url, { bytes: ['GET / HTTP/1.1\r\nHost: inlet\r\n\r\n'], isReading: false })
  const trickle = setInterval(() => client.socket.read(10), 100)
  await cut
  clearInterval(trickle)
  client.socket.destroy()
  await app.close()
})
