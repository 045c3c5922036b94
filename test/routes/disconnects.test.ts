import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
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
  // Far more than the network buffers, as CSV; a page of JSON ends at 1 MiB.
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

interface Requests {
  accept?: string
  /** How many are sent, one after the other, without waiting for a response. */
  count?: number
}

/** Sends requests without reading; returns the service's side of the last one and how to reset the connection. */
async function send(path: string, { accept = '*/*', count = 1 }: Requests = {}) {
  const { hostname, port } = new URL(service.url)
  const begun = new Promise<ServerResponse>((resolve) => {
    let left = count
    service.app.server.on('request', function listen(_, response) {
      if (--left > 0) return
      service.app.server.off('request', listen)
      resolve(response)
    })
  })
  const socket = connect(Number(port), hostname).on('error', () => {})
  const head = `Host: localhost\r\nX-API-Key: ${service.adminKey}\r\nAccept: ${accept}\r\n\r\n`
  socket.write(`GET ${path} HTTP/1.1\r\n${head}`.repeat(count))
  const response = await begun
  return {
    firstBytes: () => once(socket, 'readable'),
    /** When the network has no room for the rest. */
    isStuck: () => expect.poll(() => response.req.socket.writableLength).toBeGreaterThan(0),
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
  const csv = { accept: 'text/csv' }
  // Together far more than the network buffers.
  const pipelined = { count: 30 }
  test.each<[string, Requests]>([
    ['/api/tasks', csv],
    ['/api/tasks?q=Text', csv],
    ['/api/tasks?sort=-priority', csv],
    ['/api/export', {}],
    ['/api/stream', {}],
    ['/api/tasks?limit=200', pipelined],
    ['/api/activity?limit=200', pipelined],
  ])('in the middle of the response is not an error: GET %s %j', async (path, requests) => {
    const client = await send(path, requests)
    await client.firstBytes()
    if (path !== '/api/stream') await client.isStuck()
    await client.reset()

    expect(problems()).toEqual([])
    const route = path.split('?')[0]
    const cut = logged.filter(({ msg }) => msg === 'client disconnected')
    expect(cut.slice(-(requests.count ?? 1))).toContainEqual(expect.objectContaining({ route, status: 200 }))
    expect(lastRequest()).toMatchObject({ msg: 'client disconnected', route })
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
