import { request as httpRequest } from 'node:http'
import fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { refuseMalformed } from '../../src/lib/refuse-malformed.ts'
import { timeouts } from '../../src/plugins/timeouts.ts'

const REQUEST_MS = 200

let app: FastifyInstance
let url: string
beforeEach(async () => {
  const logger = pino({ level: 'silent' })
  app = fastify({
    requestTimeout: 0,
    clientErrorHandler: (error, socket) => refuseMalformed(error, { socket, logger }),
  })
  await app.register(timeouts, { checkMs: 20, requestMs: REQUEST_MS })
  app.addContentTypeParser('*', async (_request: unknown, body: unknown) => body)
  app.post('/short', async ({ raw }) => ({ bytes: await lengthOf(raw) }))
  app.post('/long', async (request) => {
    request.liftDeadline()
    return { bytes: await lengthOf(request.raw) }
  })
  app.post('/early', async (request) => {
    request.liftDeadline()
    return { bytes: 0 }
  })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(() => app.close())

test('a body that is not complete at the deadline is 408', async () => {
  expect(await slowPost('/short', 3 * REQUEST_MS)).toMatchObject({ status: 408 })
})

test('a route can lift the deadline for its body', async () => {
  expect(await slowPost('/long', 3 * REQUEST_MS)).toMatchObject({ status: 200, isOpen: true })
})

test('a body that is still sent after its response has the deadline again', async () => {
  expect(await slowPost('/early', 5 * REQUEST_MS)).toMatchObject({ status: 200, isOpen: false })
})

/** Sends a byte at once, and another one after a time. */
async function slowPost(path: string, ms: number): Promise<{ status: number | undefined; isOpen: boolean }> {
  const request = httpRequest(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'a/b' } })
  const closed = Promise.withResolvers<void>()
  const response = new Promise<number | undefined>((resolve, reject) => {
    request.on('response', (response) => resolve(response.resume().statusCode))
    request.on('error', reject)
    request.on('close', () => closed.resolve())
  })
  // After the response it only means that the connection was cut.
  request.on('error', () => {})
  request.write('x')
  let isOpen = true
  request.on('socket', (socket) => socket.once('close', () => (isOpen = false)))
  await new Promise((resolve) => setTimeout(resolve, ms))
  const wasOpen = isOpen
  request.end('y')
  return { status: await response, isOpen: wasOpen }
}

async function lengthOf(body: AsyncIterable<Buffer>): Promise<number> {
  let length = 0
  for await (const chunk of body) length += chunk.length
  return length
}
