import { EventEmitter } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { limitInFlight } from '../../src/guards/in-flight.ts'

function given() {
  const guard = limitInFlight({ maxPerKey: 2, maxTotal: 3, maxLongPerKey: 1 })
  return Object.assign(ask, { peek })

  function peek(keyId: string) {
    const request = { caller: { keyId }, routeOptions: { config: {} } } as unknown as FastifyRequest
    return guard.peek(request)
  }

  async function ask(keyId: string, { isLong = false, destroyed = false } = {}) {
    const raw = Object.assign(new EventEmitter(), { destroyed })
    const config = { isLong: () => isLong }
    const request = { caller: { keyId }, routeOptions: { config } } as unknown as FastifyRequest
    await guard(request, { raw } as unknown as FastifyReply)
    return { close: () => raw.emit('close') }
  }
}

const refusal = { code: 'rate_limited', extras: { retryAfterSeconds: expect.any(Number) } }

test('a key has so many requests at a time, and another one when one of them is done', async () => {
  const ask = given()
  const first = await ask('a')
  await ask('a')
  await expect(ask('a')).rejects.toMatchObject(refusal)
  first.close()
  await ask('a')
  await expect(ask('a')).rejects.toMatchObject(refusal)
})

test('all keys together have so many, and what was refused is not counted', async () => {
  const ask = given()
  const first = await ask('a')
  await ask('b')
  await ask('c')
  for (let i = 0; i < 3; i++) await expect(ask('d')).rejects.toMatchObject(refusal)
  first.close()
  await ask('d')
})

test('streams are counted apart', async () => {
  const ask = given()
  const stream = await ask('a', { isLong: true })
  await expect(ask('a', { isLong: true })).rejects.toMatchObject(refusal)
  await ask('a')
  await ask('a')
  stream.close()
  await ask('a', { isLong: true })
})

test('who is gone before the guard looks is not counted for ever', async () => {
  const ask = given()
  for (let i = 0; i < 5; i++) await ask('a', { destroyed: true })
  await ask('a')
})

test('an early look says the same and counts nothing', async () => {
  const ask = given()
  for (let i = 0; i < 5; i++) await ask.peek('a')
  const first = await ask('a')
  await ask('a')
  await expect(ask.peek('a')).rejects.toMatchObject(refusal)
  first.close()
  await ask.peek('a')
})
