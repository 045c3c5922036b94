import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { throttled } from '../../../src/dashboard/lib/throttle.ts'

describe('throttled work', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('is done once for all who ask while it waits', () => {
    const { work, runs } = given({ delayMs: 250, intervalMs: 2_000 })
    work.ask()
    vi.advanceTimersByTime(200)
    work.ask()
    vi.advanceTimersByTime(49)
    expect(runs()).toEqual([])
    vi.advanceTimersByTime(10_000)
    expect(runs()).toEqual([250])
  })

  test('is never done in quick succession, and is done for the last who asked', () => {
    const { work, runs } = given({ delayMs: 250, intervalMs: 2_000 })
    for (let ms = 0; ms < 5_000; ms += 100) {
      work.ask()
      vi.advanceTimersByTime(100)
    }
    vi.advanceTimersByTime(10_000)
    expect(runs()).toEqual([250, 2_250, 4_250, 6_250])
  })

  test('is done soon again after a pause', () => {
    const { work, runs } = given({ delayMs: 250, intervalMs: 2_000 })
    work.ask()
    vi.advanceTimersByTime(10_000)
    work.ask()
    vi.advanceTimersByTime(10_000)
    expect(runs()).toEqual([250, 10_250])
  })

  test('is done later for who asks for later', () => {
    const { work, runs } = given({ delayMs: 0, intervalMs: 0 })
    work.ask(5_000)
    vi.advanceTimersByTime(4_999)
    expect(runs()).toEqual([])
    vi.advanceTimersByTime(1)
    expect(runs()).toEqual([5_000])
  })

  test('is not done once it is stopped, whoever asks', () => {
    const { work, runs } = given({ delayMs: 250, intervalMs: 0 })
    work.ask()
    work.stop()
    work.ask()
    vi.advanceTimersByTime(10_000)
    expect(runs()).toEqual([])
  })
})

function given(times: { delayMs: number; intervalMs: number }) {
  const start = Date.now()
  const at: number[] = []
  const work = throttled(() => at.push(Date.now() - start), times)
  return { work, runs: () => at }
}
