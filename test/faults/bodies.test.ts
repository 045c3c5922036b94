import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiResponse } from '../support/app.ts'
import { feedback, sender } from '../support/feedback.ts'
import { ADMIN_KEY, cleanUp, type Inlet, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { boundedDelay, WATCHED } from '../support/loop-delay.ts'
import { memoryOf, peakMemoryOf } from '../support/memory.ts'

const SECRET = 'a-webhook-secret-for-tests'
const MIB = 1024 * 1024
/** When its garbage is collected is up to V8: three times the 5 MB that a part of the work leaves behind. */
const GARBAGE_BYTES = 16 * MIB

let inlet: Inlet
let url: string

beforeAll(async () => {
  inlet = spawnInlet({ dataDir: await newDataDir(), env: { ...WATCHED, WEBHOOK_SECRET: SECRET } })
  url = await inlet.url
  await post('/api/tasks', '{"title":"Warm"}')
  await sender(url, SECRET)(feedback({ note: 'x'.repeat(100_000) }))
}, 120_000)
afterAll(cleanUp)

const post = async (
  path: string,
  body: string,
  headers: Record<string, string> = { 'x-api-key': ADMIN_KEY },
) => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, body: (await response.json()) as ApiResponse['body'] }
}

const me = () => fetch(`${url}/api/me`, { headers: { 'x-api-key': ADMIN_KEY } }).then(({ status }) => status)

describe('others wait no longer than usual', () => {
  const objects = (count: number) => `[${Array(count).fill('{}').join()}]`

  test('while a stranger sends 340,000 objects', async () => {
    const body = `{"title":"A","metadata":{"a":${objects(340_000)}}}`
    const result = await boundedDelay(inlet, async () => {
      const refused = await Promise.all(Array.from({ length: 4 }, () => post('/api/tasks', body, {})))
      return refused.map(({ status }) => status)
    })
    expect(result).toEqual([401, 401, 401, 401])
  })

  test('while somebody with a key sends them', async () => {
    const body = `{"title":"A","metadata":{"a":${objects(340_000)}}}`
    const result = await boundedDelay(inlet, () => post('/api/tasks', body))
    expect(result).toMatchObject({ status: 400, body: { errors: [{ path: '/metadata' }] } })
  })

  test.each([
    [
      '50 addresses and a note of 1 MB',
      () => ({
        note: 'Mail user7@example.org about it. '.repeat(30_000),
        user_email: Array.from({ length: 50 }, (_, n) => `user${n}@example.org`),
      }),
    ],
    ['9,900 properties', () => Object.fromEntries(Array.from({ length: 9_900 }, (_, n) => [`p${n}`, n]))],
    ['9,900 values in one property', () => ({ nested: Array(9_900).fill(1) })],
  ])('while feedback comes with %s, which becomes a task', async (_, properties) => {
    const result = await boundedDelay(inlet, () => sender(url, SECRET)(feedback(properties())))
    expect(result).toMatchObject({ status: 201, body: { accepted: true } })
  })
})

describe('batches at the limit', () => {
  /** As many bytes as a batch may have, in a hundred tasks. */
  const fullBatch = (listId: string, letter: string) =>
    JSON.stringify({
      listId,
      tasks: Array.from({ length: 100 }, (_, n) => ({
        title: `Task ${n}`,
        description: letter.repeat(41_600 / Buffer.byteLength(letter)),
      })),
    })
  let listId: string
  beforeAll(async () => {
    const made = await post('/api/tasks', '{"title":"Where"}')
    listId = made.body.listId
    // The reader is there, and the heap has its size.
    await post('/api/tasks/bulk', fullBatch(listId, 'ö'))
  })

  test.each([
    ['in ASCII', 'a', false],
    ['in letters of two bytes', 'ö', false],
    ['in letters of four bytes', '😀', false],
    ['in letters of four bytes, with an Idempotency-Key', '😀', true],
  ])(
    'do not block the event loop, and take at most four times their bytes: %s',
    async (_, letter, isKeyed) => {
      const send = (body: string) =>
        post('/api/tasks/bulk', body, {
          'x-api-key': ADMIN_KEY,
          ...(isKeyed && { 'idempotency-key': randomUUID() }),
        })
      const body = fullBatch(listId, letter)
      const bytes = Buffer.byteLength(body)
      const before = memoryOf(inlet.process.pid)

      const first = await peakMemoryOf(inlet.process.pid, () => send(body))

      expect(first.result.status).toBe(201)
      expect(first.result.body.created).toBe(100)
      expect(first.peak - before).toBeLessThan(4 * bytes + GARBAGE_BYTES)
      await boundedDelay(inlet, () => send(body))
    },
  )

  test('do not block the event loop with as many values as metadata can have', async () => {
    const tasks = Array.from({ length: 50 }, (_, n) => ({
      title: `${n}`,
      metadata: { a: Array(8_000).fill(1) },
    }))
    const result = await boundedDelay(inlet, () => post('/api/tasks/bulk', JSON.stringify({ listId, tasks })))
    expect(result.status).toBe(201)
  })

  test('do not block the event loop when they have more than a million objects, and are refused', async () => {
    const task = `{"title":"A","metadata":{"a":[${Array(110_000).fill('{}').join()}]}}`
    const body = `{"listId":"${listId}","tasks":[${Array(12).fill(task).join()}]}`
    const result = await boundedDelay(inlet, () => post('/api/tasks/bulk', body))
    expect(result).toMatchObject({ status: 400, body: { errors: [{ path: '/tasks', code: 'too_many' }] } })
  })

  test('do not block the event loop when they are replayed for an Idempotency-Key', async () => {
    const body = fullBatch(listId, '😀')
    const headers = { 'x-api-key': ADMIN_KEY, 'idempotency-key': 'a large one' }
    const first = await post('/api/tasks/bulk', body, headers)
    const again = await boundedDelay(inlet, () => post('/api/tasks/bulk', body, headers))
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual(first.body)
  })

  test('that come together take no more memory than two of them, and each is made or told when to come again', async () => {
    const body = fullBatch(listId, 'ö')
    const before = memoryOf(inlet.process.pid)
    const send = async () => {
      const response = await fetch(`${url}/api/tasks/bulk`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
        body,
      })
      const { length } = await response.text()
      return { status: response.status, retryAfter: response.headers.get('retry-after'), length }
    }
    const { result, peak } = await peakMemoryOf(inlet.process.pid, () =>
      Promise.all([...Array.from({ length: 16 }, send), me()]),
    )
    const responses = result.slice(0, -1) as Awaited<ReturnType<typeof send>>[]
    expect(responses.filter(({ status }) => status !== 201 && status !== 503)).toEqual([])
    expect(responses.filter(({ status, retryAfter }) => status === 503 && !retryAfter)).toEqual([])
    expect(responses.map(({ status }) => status)).toContain(201)
    expect(result.at(-1)).toBe(200)
    expect(peak - before).toBeLessThan(4 * 64 * MIB + 64 * MIB)
  })
})
