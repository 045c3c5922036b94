import { once } from 'node:events'
import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { webhookReceiver } from '../../src/clients/webhook-receiver.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../support/certificate.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

type Handler = Parameters<typeof createHttpServer>[1]

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const https = (handler: Handler) => createHttpsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, handler)

function client(options: Partial<Parameters<typeof webhookReceiver>[0]> = {}) {
  const receiver = webhookReceiver({ allowHosts: [], ca: CERTIFICATE, timeoutMs: 1_000, ...options })
  ends.push(receiver.close)
  return receiver
}

const { signal } = new AbortController()
const post = (receiver: ReturnType<typeof client>, url: string) =>
  receiver.post({ url, headers: { 'content-type': 'application/json' }, body: '{"a":"ä"}', signal })

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
    ends.push(distrusting.close)
    expect(await post(distrusting, url)).toEqual({
      ...{ status: null, body: '' },
      error: 'Its certificate is not trusted.',
    })
  })
})

describe('an address that is not public', () => {
  test('gets no connection when a name changes to it between the look-up and the connection', async () => {
    const server = https((_, response) => response.end())
    let connections = 0
    server.on('connection', () => connections++)
    const port = await listening(server)
    const addresses = ['93.184.215.14', '127.0.0.1']
    const receiver = client({
      resolve: async () => [{ address: addresses.shift() ?? '127.0.0.1', family: 4 }],
    })
    const url = `https://receiver.test:${port}/`
    expect(await receiver.refusalOf(url)).toBeUndefined()
    expect(await post(receiver, url)).toEqual({
      ...{ status: null, body: '' },
      error: 'The host has an address that is not public.',
    })
    expect(connections).toBe(0)
  })

  test.each([
    ['one of several', ['93.184.215.14', '10.0.0.1']],
    ['the first of several', ['10.0.0.1', '93.184.215.14']],
    ['mapped to IPv6', ['::ffff:127.0.0.1']],
  ])('is refused as %s', async (_, addresses) => {
    const resolve = async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    const receiver = client({ resolve })
    expect(await receiver.refusalOf('https://receiver.test/')).toBe('not_public')
    expect(await post(receiver, 'https://receiver.test/')).toMatchObject({
      error: 'The host has an address that is not public.',
    })
  })

  test.each(['https://127.0.0.1/', 'https://[::1]/', 'https://[::ffff:7f00:1]/', 'https://2130706433/'])(
    'is refused as %s, which no name has to be looked up for',
    async (url) => {
      const port = await listening(https((_, response) => response.end()))
      const withPort = url.replace(/\/$/, `:${port}/`)
      expect(await client().refusalOf(withPort)).toBe('not_public')
      expect(await post(client(), withPort)).toMatchObject({
        error: 'The host has an address that is not public.',
      })
    },
  )

  test('is not followed to by a redirect', async () => {
    let requests = 0
    const port = await listening(
      createHttpServer((_, response) => {
        requests++
        response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end()
      }),
    )
    const receiver = client({ allowHosts: ['127.0.0.1'] })
    expect(await post(receiver, `http://127.0.0.1:${port}/`)).toMatchObject({ status: 307 })
    expect(requests).toBe(1)
  })

  test('is refused when a name is not resolved', async () => {
    const receiver = client({ resolve: async () => Promise.reject(new Error('no such name')) })
    expect(await receiver.refusalOf('https://receiver.test/')).toBe('not_found')
    expect(await client({ resolve: async () => [] }).refusalOf('https://receiver.test/')).toBe('not_found')
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
    ends.push(() => server.close())
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
  ends.push(() => vi.useRealTimers())
  const { status, body } = await post(receiver, `http://127.0.0.1:${port}/`)
  expect([status, body]).toEqual([200, 'x'.repeat(16 * 1024)])
})

test('a connection that the receiver closes while it is idle costs no delivery', async () => {
  const server = createHttpServer((_, response) => response.end())
  const port = await listening(server)
  const receiver = client({ allowHosts: ['127.0.0.1'] })
  const url = `http://127.0.0.1:${port}/`
  expect(await post(receiver, url)).toMatchObject({ status: 200 })
  const sent = post(receiver, url)
  server.closeAllConnections()
  expect(await sent).toMatchObject({ status: 200 })
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
  ends.push(() => server.close())
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
  ends.push(() => server.close())
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

test('names are looked up two at a time, and each once for all that wait for it', async () => {
  const names: string[] = []
  let current = 0
  let maxConcurrent = 0
  const asked = Promise.withResolvers<void>()
  const receiver = client({
    timeoutMs: 10_000,
    async resolve(name) {
      names.push(name)
      current++
      maxConcurrent = Math.max(maxConcurrent, current)
      await asked.promise
      current--
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    },
  })
  const sent = ['a', 'b', 'a', 'c', 'a', 'd'].map((name) => post(receiver, `https://${name}.test/`))
  await vi.waitFor(() => expect(names.length).toBeGreaterThanOrEqual(2))
  await new Promise(setImmediate)
  asked.resolve()
  const errors = (await Promise.all(sent)).map(({ error }) => error)
  expect(new Set(errors)).toEqual(new Set(['The host name was not found.']))
  expect(names).toEqual(['a.test', 'b.test', 'c.test', 'd.test'])
  expect(maxConcurrent).toBe(2)
})
