import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { checkEarly, oncePerRequest } from '../../src/guards/early.ts'

const request = () => ({}) as FastifyRequest

test('a guard runs once for a request, and again for the next', async () => {
  let runs = 0
  const guard = oncePerRequest(async () => void runs++)
  const one = request()
  await Promise.all([guard(one), guard(one)])
  await guard(one)
  expect(runs).toBe(1)
  await guard(request())
  expect(runs).toBe(2)
})

test('the first guard that refuses decides, and no later one runs', async () => {
  const ran: string[] = []
  const refusing = (name: string) => async () => {
    ran.push(name)
    throw new Error(name)
  }
  const refused = request()
  await checkEarly(async () => void ran.push('lets in'), refusing('first'), refusing('second'))(refused)
  expect(refused.earlyRefusal?.message).toBe('first')
  expect(ran).toEqual(['lets in', 'first'])
})
