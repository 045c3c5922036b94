import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { ownOrigin, requireCaller, requireScope, SESSION_COOKIE } from '../../src/guards/caller.ts'
import type { AccessService, Caller } from '../../src/services/access.ts'
import { failureLimit } from '../../src/services/failure-limit.ts'

/** Cast: the guards read nothing else of a request. */
const requestWith = (given: object) =>
  ({ headers: {}, cookies: {}, method: 'GET', ip: '192.0.2.1', ...given }) as unknown as FastifyRequest

const caller = (name: string) => ({ name }) as Caller

const guard = requireCaller({
  access: {
    callerByKey: async (key: string) => caller(`key ${key}`),
    callerBySession: async (token: string) => caller(`session ${token}`),
  } as Pick<AccessService, 'callerByKey' | 'callerBySession'>,
  failures: failureLimit(0),
  isOwnOrigin: ({ headers }) => headers.origin === 'https://own.example',
})

async function callerOf(given: object) {
  const request = requestWith(given)
  await guard(request)
  return request.caller.name
}

describe('a caller', () => {
  const cookies = { [SESSION_COOKIE]: 'a token' }

  test('is the key, also beside a session, which needs no Origin then', async () => {
    const headers = { 'x-api-key': 'a key' }
    expect(await callerOf({ headers, cookies, method: 'POST' })).toBe('key a key')
  })

  test('is the session without a key, or with an empty one', async () => {
    expect(await callerOf({ cookies })).toBe('session a token')
    expect(await callerOf({ cookies, headers: { 'x-api-key': '' } })).toBe('session a token')
  })

  test('is the Bearer without a session, or with an empty one', async () => {
    const headers = { authorization: 'Bearer a-key' }
    expect(await callerOf({ headers })).toBe('key a-key')
    expect(await callerOf({ headers, cookies: { [SESSION_COOKIE]: '' } })).toBe('key a-key')
    await expect(callerOf({ cookies: { [SESSION_COOKIE]: '' } })).rejects.toMatchObject({
      code: 'missing_credentials',
    })
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'with a session needs its Origin for %s',
    async (method) => {
      await expect(callerOf({ cookies, method })).rejects.toMatchObject({ code: 'origin_not_allowed' })
      const headers = { origin: 'https://own.example' }
      expect(await callerOf({ cookies, method, headers })).toBe('session a token')
    },
  )

  test.each(['GET', 'HEAD'])('with a session needs no Origin for %s', async (method) => {
    expect(await callerOf({ cookies, method })).toBe('session a token')
  })

  test('is required', async () => {
    await expect(callerOf({})).rejects.toMatchObject({ code: 'missing_credentials' })
  })
})

describe('the own Origin', () => {
  const isOwn = (origin: string | undefined, publicUrl?: string) =>
    ownOrigin(publicUrl)(requestWith({ headers: { origin }, host: 'inlet.lan:3000' }))

  test.each(['http://inlet.lan:3000', 'https://inlet.lan:3000'])(
    'has the host of the request: %s',
    (origin) => {
      expect(isOwn(origin)).toBe(true)
    },
  )

  test.each([
    undefined,
    'null',
    'http://inlet.lan',
    'http://inlet.lan:3001',
    'http://evil.inlet.lan:3000',
    'http://inlet.lan:3000.evil.example',
  ])('is no other: %s', (origin) => {
    expect(isOwn(origin)).toBe(false)
    expect(isOwn(origin, 'https://inlet.example')).toBe(false)
  })

  test('is that of the public URL, with its protocol and port', () => {
    const publicUrl = 'https://inlet.example/path'
    expect(isOwn('https://inlet.example', publicUrl)).toBe(true)
    for (const origin of ['http://inlet.example', 'https://inlet.example:8443', 'https://x.inlet.example'])
      expect(isOwn(origin, publicUrl)).toBe(false)
  })
})

test('a route that forgot its operation lets nobody in', async () => {
  const request = requestWith({
    caller: { scopes: ['admin'] },
    routeOptions: { config: {}, url: '/api/new' },
  })
  await expect(requireScope(request)).rejects.toThrow('The route /api/new has no operation.')
})

test('a route requires the scope of its operation', async () => {
  const requestOf = (scopes: string[]) =>
    requestWith({
      caller: { scopes, projectIds: null },
      routeOptions: { config: { operation: { scope: 'rules:read' } } },
    })
  await requireScope(requestOf(['rules:read']))
  await expect(requireScope(requestOf(['tasks:read']))).rejects.toMatchObject({ code: 'insufficient_scope' })
})
