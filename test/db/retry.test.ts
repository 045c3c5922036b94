import { afterEach, expect, test, vi } from 'vitest'
import { retryUntilDeadline } from '../../src/db/retry.ts'

afterEach(() => vi.useRealTimers())

test('a database that stays unavailable is logged at once, and then each minute', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  const loggedAt: number[] = []
  // Each attempt takes a second of the clock, and no time.
  const attempt = () => {
    vi.setSystemTime(Date.now() + 1_000)
    return Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
  }
  const start = retryUntilDeadline(attempt, {
    database: 'the database in DATABASE_URL',
    deadlineMs: 150_000,
    pauseMs: 0,
    signal: new AbortController().signal,
    onWait: () => loggedAt.push(Date.now() / 1_000),
  })
  await expect(start).rejects.toThrow('The database in DATABASE_URL did not respond for 150 s')
  expect(loggedAt).toEqual([1, 61, 121])
})
