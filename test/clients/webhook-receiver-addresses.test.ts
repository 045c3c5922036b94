import { createServer as createHttpServer } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { client, https, listening, post } from '../support/webhook-receivers.ts'

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

  test('is refused when the name server does not respond', async () => {
    const receiver = client({ resolve: () => new Promise(() => {}) })
    expect(await receiver.refusalOf('https://receiver.test/')).toBe('not_found')
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
