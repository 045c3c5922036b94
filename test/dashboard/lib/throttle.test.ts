import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createThrottle } from '../../../src/dashboard/lib/throttle.ts'

describe('a throttled function', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('runs once for all calls while it waits', () => {
    const { throttle, runs } = given({ delayMs: 250, intervalMs: 2_000 })
    throttle.schedule()
    vi.advanceTimersByTime(200)
    throttle.schedule()
    vi.advanceTimersByTime(49)
    expect(runs()).toEqual([])
    vi.advanceTimersByTime(10_000)
    expect(runs()).toEqual([250])
  })

  test('keeps the interval and runs after the last call', () => {
    const { throttle, runs } = given({ delayMs: 250, intervalMs: 2_000 })
    for (let ms = 0; ms < 5_000; ms += 100) {
      throttle.schedule()
      vi.advanceTimersByTime(100)
    }
    vi.advanceTimersByTime(10_000)
    expect(runs()).toEqual([250, 2_250, 4_250, 6_250])
  })

  test('runs after the short delay again after a pause', () => {
    const { throttle, runs } = given({ delayMs: 250, intervalMs: 2_000 })
    throttle.schedule()
    vi.advanceTimersByTime(10_000)
    throttle.schedule()
    vi.advanceTimersByTime(10_000)
    expect(runs()).toEqual([250, 10_250])
  })

  test('runs after the delay of the call', () => {
    const { throttle, runs } = given({ delayMs: 0, intervalMs: 0 })
    throttle.schedule(5_000)
    vi.advanceTimersByTime(4_999)
    expect(runs()).toEqual([])
    vi.advanceTimersByTime(1)
    expect(runs()).toEqual([5_000])
  })

  test('does not run after it is stopped', () => {
    const { throttle, runs } = given({ delayMs: 250, intervalMs: 0 })
    throttle.schedule()
    throttle.stop()
    throttle.schedule()
    vi.advanceTimersByTime(10_000)
    expect(runs()).toEqual([])
  })
})

function given(times: { delayMs: number; intervalMs: number }) {
  const start = Date.now()
  const runTimes: number[] = []
  const throttle = createThrottle(() => runTimes.push(Date.now() - start), times)
  return { throttle, runs: () => runTimes }
}
