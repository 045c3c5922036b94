import { expect, test, vi } from 'vitest'
import { minuteLimit } from '../../src/lib/minute-limit.ts'

function limitAt(limit: number) {
  const time = { ms: 0 }
  return { time, ...minuteLimit(limit, () => time.ms) }
}

test('a limit is exceeded by one more request than it allows, for each name apart', () => {
  const { take } = limitAt(2)

  expect([take('a'), take('a'), take('a'), take('b')].map((allowance) => allowance?.isExceeded)).toEqual([
    false,
    false,
    true,
    false,
  ])
})

test('a minute later all of it is allowed again', () => {
  const { take, time } = limitAt(1)
  take('a')
  time.ms = 45_000
  expect(take('a')).toEqual({ limit: 1, remaining: 0, resetSeconds: 15, isExceeded: true })

  time.ms = 60_000
  expect(take('a')).toEqual({ limit: 1, remaining: 0, resetSeconds: 60, isExceeded: false })
})

test('a clock of the machine that is set back keeps nobody out for longer', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout'] })
  try {
    const { take } = minuteLimit(1)
    take('a')
    vi.setSystemTime(Date.now() - 3_600_000)
    expect(take('a')?.isExceeded).toBe(true)
    vi.advanceTimersByTime(60_000)
    expect(take('a')?.isExceeded).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test('peek shows what the next request gets, and counts nothing', () => {
  const { peek, take } = limitAt(1)

  expect(peek('a')?.isExceeded).toBe(false)
  expect(peek('a')?.isExceeded).toBe(false)
  take('a')
  expect(peek('a')?.isExceeded).toBe(true)
})

test('a batch counts as many requests', () => {
  expect(limitAt(10).take('a', 11)?.isExceeded).toBe(true)
})

test('a limit of 0 is off', () => {
  const { peek, take } = limitAt(0)

  expect([take('a', 1_000), peek('a')]).toEqual([undefined, undefined])
})
