import type { FastifyRequest } from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'
import { invalidCredentials } from '../../src/errors/index.ts'
import { requireMetricsReader } from '../../src/guards/metrics-reader.ts'
import type { Caller } from '../../src/services/access.ts'

const caller = { id: 'a caller', expiresAt: null } as Partial<Caller> as Caller
const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const request = (key: string) => ({ headers: { 'x-api-key': key } }) as unknown as FastifyRequest

/** The guard over a database that can be taken away, go silent, and notify that something ended. */
function given(known: Caller = caller) {
  let check: () => Promise<void> = async () => {}
  let forget = () => {}
  const guard = requireMetricsReader({
    access: {
      onForget: (listener) => {
        forget = listener
        return () => {}
      },
    },
    requireCaller: async (request) => {
      await check()
      request.caller = known
    },
    isDatabaseAway: (error) => [error, (error as Error).cause].includes(away) || isTimeout(error),
    deadlineMs: 20,
  })
  return {
    guard,
    forget: () => forget(),
    /** It responds, and refuses. */
    refuse: (refusal: Error) => {
      check = () => Promise.reject(refusal)
    },
    take: () => {
      check = () => Promise.reject(away)
    },
    silence: () => {
      check = () => new Promise(() => {})
    },
  }
}

const isTimeout = (error: unknown) => ((error as Error).cause as { code?: string })?.code === 'ETIMEDOUT'

test.each(['take', 'silence'] as const)(
  'a key that was authenticated stays authenticated while the database is away: %s',
  async (how) => {
    const { guard, ...database } = given()
    await guard(request('a key'))
    database[how]()

    const again = request('a key')
    await guard(again)

    expect(again.caller).toBe(caller)
    await expect(guard(request('another key'))).rejects.toThrow()
  },
)

test('no key stays authenticated once a key or session has ended', async () => {
  const { guard, ...database } = given()
  await guard(request('a key'))
  database.take()
  database.forget()

  await expect(guard(request('a key'))).rejects.toBe(away)
})

test('a key that was rejected since does not stay authenticated', async () => {
  const { guard, ...database } = given()
  await guard(request('a key'))
  database.refuse(invalidCredentials())
  await expect(guard(request('a key'))).rejects.toMatchObject({ code: 'invalid_credentials' })
  database.take()

  await expect(guard(request('a key'))).rejects.toBe(away)
})

test.each([0, 1])('a key that expired %i ms ago does not stay authenticated', async (ago) => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { guard, ...database } = given({ ...caller, expiresAt: new Date(Date.now() - ago) })
  await guard(request('a key'))
  database.take()

  await expect(guard(request('a key'))).rejects.toBe(away)
})

test('a rejected key is not taken for an unavailable database', async () => {
  const refusal = new Error('refused')
  const guard = requireMetricsReader({
    access: { onForget: () => () => {} },
    requireCaller: () => Promise.reject(refusal),
    isDatabaseAway: (error) => error === away,
  })

  await expect(guard(request('a key'))).rejects.toBe(refusal)
})
