import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { toServerTime, updateClock } from '../../../src/dashboard/api/server-clock.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')

describe('the clock of the service', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))
  afterEach(() => {
    updateClock(responseOf(new Date().toUTCString()))
    vi.useRealTimers()
  })

  test.each([
    ['Sun, 22 Nov 2026 12:05:00 GMT', 300_000],
    ['Sun, 22 Nov 2026 11:00:00 GMT', -3_600_000],
  ])('is taken from the Date header: %s', (date, offsetMs) => {
    updateClock(responseOf(date))
    expect(toServerTime(NOW) - NOW).toBe(offsetMs)
  })

  test.each([undefined, 'soon'])('is kept when a response has no valid date: %s', (date) => {
    updateClock(responseOf('Sun, 22 Nov 2026 12:05:00 GMT'))
    updateClock(responseOf(date))
    expect(toServerTime(NOW) - NOW).toBe(300_000)
  })
})

const responseOf = (date: string | undefined) => new Response(null, { headers: date ? { date } : {} })
