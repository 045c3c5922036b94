import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { locksOf } from '../support/locks.ts'

const logged: Record<string, unknown>[] = []
let service: TestApp
beforeAll(async () => {
  const logger = pino({ level: 'info' }, { write: (line) => logged.push(JSON.parse(line)) })
  service = await startApp({ logger })
  const { inbox } = await service.given.project()
  // Far more than the network buffers.
  const tasks = Array.from({ length: 50 }, (_, n) => ({
    title: `${n}`,
    description: 'Text '.repeat(13_000),
  }))
  for (let count = 0; count < 4; count++) {
    const { status } = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
    if (status !== 201) throw new Error(`The tasks were not created: ${status}.`)
  }
  for (let count = 0; count < 200; count++)
    await service.given.activity({ type: 'long', message: 'x'.repeat(60_000) })
})
afterAll(() => service.close())

/** Sends a request without reading; returns the service's side of it and how to reset the connection. */
async function send(path: string) {
  const { hostname, port } = new URL(service.url)
  const begun = once(service.app.server, 'request')
  const socket = connect(Number(port), hostname).on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${service.adminKey}\r\n\r\n`)
  const [, response] = await begun
  return {
    firstBytes: () => once(socket, 'readable'),
    async reset() {
      const closed = once(response, 'close')
      socket.resetAndDestroy()
      await closed
      // What follows from it comes in the next turns of the event loop.
      for (let turn = 0; turn < 10; turn++) await setImmediate()
    },
  }
}

const problems = () => logged.filter(({ level }) => Number(level) > 30)
const lastRequest = () => logged.findLast(({ route }) => route !== undefined)

describe('a client that disconnects', () => {
  test.each([
    '/api/tasks?limit=200',
    '/api/tasks?limit=200&q=Text',
    '/api/tasks?limit=200&sort=-priority',
    '/api/activity?limit=200',
    '/api/stream',
  ])('in the middle of the response is not an error: GET %s', async (path) => {
    const client = await send(path)
    await client.firstBytes()
    await client.reset()

    expect(problems()).toEqual([])
    const route = path.split('?')[0]
    expect(lastRequest()).toMatchObject({ msg: 'client disconnected', route, status: 200 })
    expect((await service.get('/api/me')).status).toBe(200)
  })

  test('before the response is not an error', async () => {
    const locks = locksOf(service)
    const release = await locks.acquire('lock table tasks in access exclusive mode')
    const client = await send('/api/tasks?limit=200')
    await locks.waiting(1)
    await client.reset()
    expect(lastRequest()).toMatchObject({ msg: 'client disconnected', route: '/api/tasks', status: null })
    await release()

    expect((await service.get('/api/tasks?limit=1')).status).toBe(200)
    expect(problems()).toEqual([])
  })
})
