import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FieldError } from '../../src/errors/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { sendBody } from '../support/raw.ts'

const JSON_TYPE = 'application/json'
const MIB = 1024 * 1024

let service: TestApp
let taskPath: string
beforeAll(async () => {
  service = await startApp()
  taskPath = `/api/tasks/${(await service.post('/api/tasks', { title: 'A task' })).body.id}`
})
afterAll(() => service.close())

describe('a body over the limit', () => {
  const LIMITS = [
    ['POST', '/api/tasks', MIB],
    ['PATCH', '/api/tasks/019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081', MIB],
    ['DELETE', '/api/tasks/019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081', MIB],
    ['POST', '/api/tasks/bulk', 4 * MIB],
  ] as const

  test.each(LIMITS)('is rejected by its length: %s %s over %d bytes', async (method, path, limit) => {
    const refused = await sendBody(service, {
      method,
      path,
      type: JSON_TYPE,
      body: Buffer.alloc(limit + 1, ' '),
    })

    expect([refused.status, refused.body.code]).toEqual([413, 'body_too_large'])
    expect(refused.body.detail).toContain(String(limit))
  })

  test.each(LIMITS)(
    'is rejected when it arrives in chunks: %s %s over %d bytes',
    async (method, path, limit) => {
      const chunks = Array(Math.ceil(limit / 65_536) + 1).fill(Buffer.alloc(65_536, ' '))

      for (const type of [JSON_TYPE, 'text/plain']) {
        const refused = await sendBody(service, { method, path, type, chunks })
        expect([refused.status, refused.body.code]).toEqual([413, 'body_too_large'])
      }
    },
  )

  test('is accepted when it is exactly at the limit', async () => {
    const body = `{"title":"A"${' '.repeat(MIB - 13)}}`

    expect(
      (await sendBody(service, { method: 'POST', path: '/api/tasks', type: JSON_TYPE, body })).status,
    ).toBe(201)
    expect(
      (await sendBody(service, { method: 'POST', path: '/api/tasks', type: JSON_TYPE, body: `${body} ` }))
        .status,
    ).toBe(413)
  })
})

describe('a body with more values than any valid one', () => {
  const objects = (count: number) => `[${Array(count).fill('{}').join()}]`

  test.each([
    ['of one member', `{"title":"A","metadata":{"a":${objects(340_000)}}}`, '/metadata'],
    ['of a member nobody knows', `{"no/pe":${objects(12_000)}}`, '/no~1pe'],
    ['in a list', objects(12_000), ''],
    ['that is no JSON behind them', `{"title":${objects(12_000)}`, '/title'],
  ])('is rejected by their number alone: %s', async (_, body, member) => {
    for (const [method, path] of [
      ['POST', '/api/tasks'],
      ['PATCH', taskPath],
      ['DELETE', taskPath],
    ] as const) {
      const refused = await sendBody(service, { method, path, type: JSON_TYPE, body })
      expect([refused.status, refused.body.code]).toEqual([400, 'validation_failed'])
      expect(refused.body.errors).toMatchObject([{ path: member, code: 'too_many' }])
    }
  })

  test('is rejected before the rest of it has arrived', async () => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /api/tasks HTTP/1.1\r\nHost: inlet\r\nX-API-Key: ${service.adminKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n${objects(12_000)}`,
    )
    const [data] = await once(socket, 'data')
    socket.destroy()
    expect(String(data)).toMatch(/^HTTP\/1.1 400 /)
  })
})

describe('a connection on which a body was rejected halfway', () => {
  test.each([
    ['too many values', `[${Array(300_000).fill('{}').join()}]`],
    ['too many bytes', Buffer.alloc(2 * MIB, ' ')],
  ])('accepts the next request: %s', async (_, body) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { hostname, port } = new URL(service.url)
    const statusOf = (chunks: (string | Buffer)[]) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'x-api-key': service.adminKey, 'content-type': JSON_TYPE }
        const sent = request({ agent, hostname, port, method: 'POST', path: '/api/tasks', headers })
        sent.on('error', reject)
        sent.on('response', (response) => {
          response.resume().on('end', () => resolve(response.statusCode))
        })
        for (const chunk of chunks) sent.write(chunk)
        sent.end()
      })

    expect(await statusOf([body])).toBeOneOf([400, 413])
    expect(await statusOf(['{"title":"Next"}'])).toBe(201)
    agent.destroy()
  })
})

describe('a body with very many errors', () => {
  test('returns a hundred of them, and the number of the others', async () => {
    const body = `{${Array.from({ length: 15_000 }, (_, n) => `"nope${n}":${n}`).join()}}`

    const refused = await sendBody(service, { method: 'PATCH', path: taskPath, type: JSON_TYPE, body })

    expect(refused.status).toBe(400)
    expect(refused.body.errors).toHaveLength(100)
    expect(refused.body.errorsOmitted).toBe(14_900)
  })

  test('returns them briefly when its values are long', async () => {
    const long = 'x'.repeat(100_000)

    const refused = await service.patch(taskPath, {
      [long]: 1,
      status: long,
      priority: '🔥'.repeat(50_000),
      listId: long,
      externalUrl: long,
    })

    expect(refused.status).toBe(400)
    for (const { path, message } of refused.body.errors as FieldError[]) {
      expect(path.length).toBeLessThan(110)
      expect([...message].length).toBeLessThan(300)
    }
    expect(JSON.stringify(refused.body)).toContain(`"${'x'.repeat(100)}…`.slice(1))
    expect(JSON.stringify(refused.body)).not.toContain('x'.repeat(101))
  })
})
