import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { periodically } from '../../src/lib/periodically.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('work that takes longer than the interval is not done twice at once', async () => {
  const ends: (() => void)[] = []
  const work = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)))
  const timer = periodically(work, 1_000)
  vi.advanceTimersByTime(3_500)
  expect(work).toHaveBeenCalledTimes(1)
  ends[0]?.()
  await vi.waitFor(() => {
    vi.advanceTimersByTime(1_000)
    expect(work).toHaveBeenCalledTimes(2)
  })
  ends[1]?.()
  await timer.stop()
})

test('stopping waits for what is being done, and nothing is done after it', async () => {
  const events: string[] = []
  const isSlow = Promise.withResolvers<void>()
  const timer = periodically(async () => {
    await isSlow.promise
    events.push('done')
  }, 1_000)
  vi.advanceTimersByTime(1_000)
  const stopped = timer.stop().then(() => events.push('stopped'))
  vi.advanceTimersByTime(5_000)
  isSlow.resolve()
  await stopped
  expect(events).toEqual(['done', 'stopped'])
})
