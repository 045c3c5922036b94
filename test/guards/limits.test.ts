import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { invalidCredentials, missingCredentials } from '../../src/errors/index.ts'
import { refuseIdempotencyKey } from '../../src/guards/idempotency-key.ts'
import { refuseDuringImport } from '../../src/guards/import-in-progress.ts'
import { limitRequests } from '../../src/guards/rate-limit.ts'
import { minuteLimit } from '../../src/lib/minute-limit.ts'
import { failureLimit } from '../../src/services/failure-limit.ts'

/** Cast: the guards read nothing else of a request. */
const requestWith = (given: object = {}) =>
  ({ headers: {}, routeOptions: { config: {} }, ...given }) as unknown as FastifyRequest
const reply = { header: () => reply } as unknown as FastifyReply
const LIMITED = { code: 'rate_limited' }

test('requests of one name are limited, those of another are not', async () => {
  const guard = limitRequests({ policy: 'key', limit: minuteLimit(2), nameOf: ({ id }) => id })
  const [one, other] = [requestWith({ id: 'one' }), requestWith({ id: 'other' })]
  await guard(one, reply)
  await guard.peek(one)
  await guard(one, reply)
  await expect(guard.peek(one)).rejects.toMatchObject(LIMITED)
  await expect(guard(one, reply)).rejects.toMatchObject(LIMITED)
  await guard(other, reply)
})

test('each message of a batch counts, where a route takes batches', async () => {
  const guardOf = () => limitRequests({ policy: 'key', limit: minuteLimit(2), nameOf: () => 'all' })
  const batch = (length: number, takesBatches = true) =>
    requestWith({ body: Array.from({ length }, () => ({})), routeOptions: { config: { takesBatches } } })
  await expect(guardOf()(batch(3), reply)).rejects.toMatchObject(LIMITED)
  await guardOf()(batch(2), reply)
  await guardOf()(batch(3, false), reply)
  const guard = guardOf()
  // An empty one counts as a request.
  for (let n = 0; n < 2; n++) await guard(batch(0), reply)
  await expect(guard(batch(0), reply)).rejects.toMatchObject(LIMITED)
})

test('wrong credentials of an address are limited, and nothing else is', async () => {
  const failures = failureLimit(1)
  const fail = (error: Error, address = '192.0.2.1') => failures.watch(address, () => Promise.reject(error))
  for (let n = 0; n < 3; n++)
    await expect(fail(missingCredentials())).rejects.toMatchObject({ code: 'missing_credentials' })
  await expect(fail(invalidCredentials())).rejects.toMatchObject({ code: 'invalid_credentials' })
  await expect(fail(invalidCredentials())).rejects.toMatchObject(LIMITED)
  await expect(fail(missingCredentials())).rejects.toMatchObject({ code: 'missing_credentials' })
  await expect(fail(invalidCredentials(), '192.0.2.2')).rejects.toMatchObject({ code: 'invalid_credentials' })
  expect(await failures.watch('192.0.2.1', async () => 'let in')).toBe('let in')
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
  '%s is refused during an import, unless its route decides',
  async (method) => {
    const guard = refuseDuringImport({
      requireNone: () => {
        throw new Error('in progress')
      },
    })
    await expect(guard(requestWith({ method }))).rejects.toThrow('in progress')
    await guard(requestWith({ method, routeOptions: { config: { isAllowedDuringImport: true } } }))
    await guard(requestWith({ method: 'GET' }))
  },
)

test('a response with a secret is not repeated', async () => {
  const headers = { 'idempotency-key': '' }
  await expect(refuseIdempotencyKey(requestWith({ headers }))).rejects.toMatchObject({
    code: 'idempotency_not_supported',
  })
  await refuseIdempotencyKey(requestWith())
})
