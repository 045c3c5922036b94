import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

const DESCRIPTION = 'Größe ist 👍 — '.repeat(50)

let service: TestApp
beforeAll(async () => {
  service = await startApp()
  for (let number = 0; number < 20; number++)
    await service.post('/api/tasks', { title: `Task ${number}`, description: DESCRIPTION })
})
afterAll(() => service.close())

interface Options {
  method?: string
  body?: unknown
  headers?: Record<string, string>
}

/** A response as it is sent: `fetch` decodes it. */
async function sent(path: string, { method = 'GET', body, headers }: Options = {}) {
  const sending = request(service.url + path, {
    method,
    headers: { 'x-api-key': service.adminKey, 'content-type': 'application/json', ...headers },
  })
  sending.end(body === undefined ? undefined : JSON.stringify(body))
  const [response]: IncomingMessage[] = await once(sending, 'response')
  if (!response) throw new Error('No response.')
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) }
}

describe('JSON that is read', () => {
  test.each(['gzip', 'gzip, deflate, br', 'br;q=1, gzip;q=0.5', '*'])(
    'is compressed for Accept-Encoding: %s',
    async (encodings) => {
      const plain = await sent('/api/tasks')
      const { status, headers, bytes } = await sent('/api/tasks', {
        headers: { 'accept-encoding': encodings },
      })
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(bytes.length),
        vary: 'accept-encoding',
      })
      expect(bytes.length).toBeLessThan(plain.bytes.length / 5)
      expect(gunzipSync(bytes).equals(plain.bytes)).toBe(true)
    },
  )

  test.each([undefined, 'identity', 'br', 'gzip;q=0', 'gzip;q=0, *;q=0', 'nonsense,,;q'])(
    'is sent as it is for Accept-Encoding: %s',
    async (encodings) => {
      const { status, headers, bytes } = await sent('/api/tasks', {
        headers: { ...(encodings && { 'accept-encoding': encodings }) },
      })
      expect(status).toBe(200)
      expect(headers).toMatchObject({ 'content-length': String(bytes.length), vary: 'accept-encoding' })
      expect(headers).not.toHaveProperty('content-encoding')
      expect(JSON.parse(bytes.toString()).data).toHaveLength(20)
    },
  )

  test('keeps its version as a strong ETag, and is not modified with it', async () => {
    const { body: made } = await service.post('/api/tasks', {
      title: 'x',
      description: 'long '.repeat(1_000),
    })
    const accepts = { 'accept-encoding': 'gzip' }
    const { headers } = await sent(`/api/tasks/${made.id}`, { headers: accepts })
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', etag: '"1"' })
    const { status } = await sent(`/api/tasks/${made.id}`, {
      method: 'PATCH',
      body: { title: 'y' },
      headers: { ...accepts, 'if-match': String(headers.etag) },
    })
    expect(status).toBe(200)
  })
})

describe('for a client that accepts gzip', () => {
  const headers = { 'accept-encoding': 'gzip' }

  test('what is short is sent as it is', async () => {
    const me = await sent('/api/me', { headers })
    expect(me.headers).not.toHaveProperty('content-encoding')
  })

  test('a response to a write is sent as it is, and so is its repetition', async () => {
    const writes = { method: 'POST', body: { title: 'x', description: DESCRIPTION.repeat(10) } }
    const once = { ...writes, headers: { ...headers, 'idempotency-key': 'compressed' } }
    const first = await sent('/api/tasks', once)
    const second = await sent('/api/tasks', once)
    expect(first.headers).not.toHaveProperty('content-encoding')
    expect(second.bytes.equals(first.bytes)).toBe(true)
  })

  test('what is streamed is sent as it is', async () => {
    const csv = await sent('/api/tasks?limit=20', { headers: { ...headers, accept: 'text/csv' } })
    const context = await sent('/api/context', { headers })
    expect(csv.status).toBe(200)
    for (const response of [csv, context]) expect(response.headers).not.toHaveProperty('content-encoding')
  })
})
