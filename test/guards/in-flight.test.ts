import { EventEmitter } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { limitInFlight } from '../../src/guards/in-flight.ts'
import { requestResources } from '../../src/lib/request-resources.ts'

function given() {
  const guard = limitInFlight({ maxPerKey: 2, maxTotal: 3, maxLongPerKey: 1 })
  return Object.assign(ask, { peek })

  function peek(id: string, config: object = {}) {
    const request = { caller: { principal: { id } }, routeOptions: { config } } as unknown as FastifyRequest
    return guard.peek(request)
  }

  async function ask(id: string, { isLong = false, destroyed = false, work = Promise.resolve() } = {}) {
    const raw = Object.assign(new EventEmitter(), { destroyed, closed: destroyed })
    const config = { isLong: () => isLong }
    const reserved = requestResources(raw as never)
    const request = {
      caller: { principal: { id } },
      routeOptions: { config },
      resources: reserved,
    } as unknown as FastifyRequest
    await guard(request, { raw } as unknown as FastifyReply)
    const done = reserved.during(() => work)
    const close = () => {
      raw.closed = true
      raw.emit('close')
    }
    return { close, done, request }
  }
}

const refusal = { code: 'rate_limited', extras: { retryAfterSeconds: expect.any(Number) } }

test('a key has a limited number of requests at a time, and a slot is free again when one ends', async () => {
  const ask = given()
  const first = await ask('a')
  await ask('a')
  await expect(ask('a')).rejects.toMatchObject(refusal)
  first.close()
  await ask('a')
  await expect(ask('a')).rejects.toMatchObject(refusal)
})

test('all keys together have a limit, and rejected requests do not count', async () => {
  const ask = given()
  const first = await ask('a')
  await ask('b')
  await ask('c')
  for (let i = 0; i < 3; i++) await expect(ask('d')).rejects.toMatchObject(refusal)
  first.close()
  await ask('d')
})

test('streams are counted separately', async () => {
  const ask = given()
  const stream = await ask('a', { isLong: true })
  await expect(ask('a', { isLong: true })).rejects.toMatchObject(refusal)
  await ask('a')
  await ask('a')
  stream.close()
  await ask('a', { isLong: true })
})

test('streams do not count with all requests', async () => {
  const ask = given()
  for (const key of ['a', 'b', 'c', 'd']) await ask(key, { isLong: true })
  await ask('a')
  await ask('b')
  await ask('c')
  await expect(ask('d')).rejects.toMatchObject(refusal)
  await ask('e', { isLong: true })
})

test('a part of a batch counts until it has ended', async () => {
  const ask = given()
  const { request } = await ask('a')
  for (const outcome of ['done', 'failed']) {
    const part = Promise.withResolvers<void>()
    const counted = request.inFlight(() => part.promise)
    await expect(ask('a')).rejects.toMatchObject(refusal)
    if (outcome === 'done') part.resolve()
    else part.reject(new Error(outcome))
    await counted.catch(() => undefined)
  }
  await ask('a')
})

test('a client that disconnects before the guard runs starts nothing and is not counted', async () => {
  const ask = given()
  for (let i = 0; i < 5; i++)
    await expect(ask('a', { destroyed: true })).rejects.toMatchObject({ code: 'request_timeout' })
  await ask('a')
})

test('a client that disconnects counts until the work for its request has ended', async () => {
  const ask = given()
  const work = Promise.withResolvers<void>()
  const gone = await ask('a', { work: work.promise })
  await ask('a')
  gone.close()
  await expect(ask('a')).rejects.toMatchObject(refusal)
  work.resolve()
  await gone.done
  await ask('a')
})

test('the early check gives the same result and counts nothing', async () => {
  const ask = given()
  for (let i = 0; i < 5; i++) await ask.peek('a')
  const first = await ask('a')
  await ask('a')
  await expect(ask.peek('a')).rejects.toMatchObject(refusal)
  first.close()
  await ask.peek('a')
})

test('the early check leaves routes with long requests to the guard', async () => {
  const ask = given()
  await ask('a')
  await ask('a')
  await expect(ask.peek('a')).rejects.toMatchObject(refusal)
  await ask.peek('a', { isLong: () => true })
})
