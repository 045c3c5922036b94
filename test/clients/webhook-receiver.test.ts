import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { webhookReceiver } from '../../src/clients/webhook-receiver.ts'
import { client, type Handler, https, listening, post } from '../support/webhook-receivers.ts'

const here = async () => [{ address: '127.0.0.1', family: 4 }]

describe('an allowed host', () => {
  test('gets the body, and its response is returned', async () => {
    const seen: unknown[] = []
    const port = await listening(
      createHttpServer(async (request, response) => {
        const chunks = await request.toArray()
        seen.push(request.method, request.headers['content-type'], Buffer.concat(chunks).toString())
        response.writeHead(202).end('taken')
      }),
    )
    const receiver = client({ allowHosts: [`127.0.0.1:${port}`] })
    expect(await post(receiver, `http://127.0.0.1:${port}/hook`)).toEqual({
      status: 202,
      body: 'taken',
      error: null,
    })
    expect(seen).toEqual(['POST', 'application/json', '{"a":"ä"}'])
  })

  test('is one that is named as in the URL: another port or name is not', async () => {
    const port = await listening(createHttpServer((_, response) => response.end()))
    const receiver = client({ allowHosts: ['127.0.0.1:1', 'localhost'] })
    expect(await receiver.refusalOf(`http://127.0.0.1:${port}/`)).toBe('not_https')
    expect(await post(receiver, `http://127.0.0.1:${port}/`)).toMatchObject({
      error: 'The URL is not https.',
    })
    expect(await receiver.refusalOf(`http://localhost:${port}/`)).toBeUndefined()
    for (const host of ['evil-localhost', 'evil.localhost', 'localhost.evil.example'])
      expect(await receiver.refusalOf(`http://${host}:${port}/`)).toBe('not_https')
  })

  test('is reached over https with a certificate that is trusted', async () => {
    const port = await listening(https((_, response) => response.end('over TLS')))
    const url = `https://receiver.test:${port}/`
    const options = { allowHosts: ['receiver.test'], resolve: here }
    expect(await post(client(options), url)).toMatchObject({ status: 200, body: 'over TLS' })
    const distrusting = webhookReceiver(options)
    onTestFinished(distrusting.close)
    expect(await post(distrusting, url)).toEqual({
      ...{ status: null, body: '' },
      error: 'Its certificate is not trusted.',
    })
  })
})

describe('a receiver that is slow', () => {
  const timed = async (handler: Handler, timeoutMs = 300) => {
    const port = await listening(createHttpServer(handler))
    const since = performance.now()
    const receipt = await post(client({ allowHosts: ['127.0.0.1'], timeoutMs }), `http://127.0.0.1:${port}/`)
    return { receipt, ms: performance.now() - since }
  }

  test('is given up after the deadline, when it never responds', async () => {
    const { receipt, ms } = await timed(() => {})
    expect(receipt).toEqual({ status: null, body: '', error: 'No response within 0.3 s.' })
    expect(ms).toBeGreaterThan(250)
  })

  test('is given up with the same error, also if a timer ends early by a part of a millisecond', async () => {
    const port = await listening(createHttpServer(() => {}))
    const receiver = client({ allowHosts: ['127.0.0.1'], timeoutMs: 50 })
    const receipts = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        await sleep(n)
        return post(receiver, `http://127.0.0.1:${port}/`)
      }),
    )
    expect(new Set(receipts.map(({ error }) => error))).toEqual(new Set(['No response within 0.05 s.']))
  })

  test('is given up after the deadline, when its headers trickle', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('X-Slow: 1\r\n'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const receiver = client({ allowHosts: ['127.0.0.1'], timeoutMs: 300 })
    expect(await post(receiver, `http://127.0.0.1:${port}/`)).toMatchObject({
      error: 'No response within 0.3 s.',
    })
  })

  test('has responded with its status, when its body trickles', async () => {
    const { receipt, ms } = await timed((_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    }, 10_000)
    expect(receipt).toMatchObject({ status: 200, error: null })
    expect(ms).toBeLessThan(5_000)
  })

  test('is cut after 16 KiB, when its body has 2 GB', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let sent = 0
    const isClosed = Promise.withResolvers<void>()
    const { receipt } = await timed((_, response) => {
      response.writeHead(500, { 'content-length': 2 * 1024 ** 3 })
      response.on('close', isClosed.resolve)
      const fill = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length
      }
      response.on('drain', fill)
      fill()
    }, 10_000)
    await isClosed.promise
    expect([receipt.status, Buffer.byteLength(receipt.body)]).toEqual([500, 16 * 1024])
    expect(sent).toBeLessThan(64 * 1024 ** 2)
  })
})

test('a body that goes on is cut after 16 KiB, without waiting for more', async () => {
  const port = await listening(
    createHttpServer((_, response) => {
      response.writeHead(200)
      // It never ends.
      response.write('x'.repeat(17 * 1024))
    }),
  )
  const receiver = client({ allowHosts: ['127.0.0.1'] })
  // Neither does the deadline of the body.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { status, body } = await post(receiver, `http://127.0.0.1:${port}/`)
  expect([status, body]).toEqual([200, 'x'.repeat(16 * 1024)])
})

test.each([
  ['that is read as reset', '{}'],
  ['that cannot be written to', 'x'.repeat(4 * 1024 * 1024)],
])('a connection that the receiver closes while it is idle costs no delivery: one %s', async (_, body) => {
  const server = createHttpServer((_, response) => response.end())
  const port = await listening(server)
  const receiver = client({ allowHosts: ['127.0.0.1'] })
  const url = `http://127.0.0.1:${port}/`
  expect(await post(receiver, url)).toMatchObject({ status: 200 })
  const sent = post(receiver, url, body)
  server.closeAllConnections()
  expect(await sent).toMatchObject({ status: 200 })
})

test('a request whose new connection is reset is not sent again: the receiver may have it', async () => {
  let requests = 0
  const port = await listening(
    createHttpServer((request) => {
      requests++
      request.socket.resetAndDestroy()
    }),
  )
  const receiver = client({ allowHosts: ['127.0.0.1'] })
  expect(await post(receiver, `http://127.0.0.1:${port}/`)).toMatchObject({ status: null })
  expect(requests).toBe(1)
})

test('a receiver is reached at the second of its addresses, and at none without any', async () => {
  const port = await listening(createHttpServer((_, response) => response.end()))
  const url = `http://receiver.test:${port}/`
  const addresses = ['127.0.0.9', '127.0.0.1'].map((address) => ({ address, family: 4 }))
  const options = { allowHosts: ['receiver.test'] }
  expect(await post(client({ ...options, resolve: async () => addresses }), url)).toMatchObject({
    status: 200,
  })
  expect(await post(client({ ...options, resolve: async () => [] }), url)).toMatchObject({ status: null })
})

test('a request that is aborted rejects', async () => {
  const port = await listening(createHttpServer(() => {}))
  const receiver = client({ allowHosts: ['127.0.0.1'] })
  const aborting = new AbortController()
  const sent = receiver.post({
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    body: '{}',
    signal: aborting.signal,
  })
  await sleep(20)
  aborting.abort()
  await expect(sent).rejects.toThrow()
})

test('a connection that is closed without a response is described without its address', async () => {
  const server = createTcpServer((socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  expect(await post(client({ allowHosts: ['127.0.0.1'] }), `http://127.0.0.1:${port}/`)).toEqual({
    ...{ status: null, body: '' },
    error: 'The connection was closed.',
  })
})

test('a receiver that switches protocols fails the request at once', async () => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const receiver = client({ allowHosts: ['127.0.0.1'], timeoutMs: 10_000 })
  const since = performance.now()
  expect(await post(receiver, `http://127.0.0.1:${port}/`)).toEqual({
    ...{ status: null, body: '' },
    error: 'The connection was closed.',
  })
  expect(performance.now() - since).toBeLessThan(5_000)
})

test('a URL that is invalid fails the request', async () => {
  expect(await post(client(), 'https://')).toEqual({
    ...{ status: null, body: '' },
    error: 'The URL is invalid.',
  })
})
