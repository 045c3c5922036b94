import { expect, test } from 'vitest'
import { clockTime } from '../../../src/dashboard/components/clock-time.ts'

// Without a zone: in that of the machine, whatever it is.
const now = new Date('2026-11-23T23:58:07')

test.each([
  ['of today', '2026-11-23T23:59:07', undefined],
  ['of tomorrow, two minutes later', '2026-11-24T00:00:07', /24/],
  ['of the same day of another month', '2026-12-23T23:58:07', /23/],
])('a time %s has its day only if that is another one', (_, local, day) => {
  const time = new Date(local)
  for (const hasSeconds of [false, true]) {
    const text = clockTime(time.toISOString(), { now, hasSeconds })
    const clock = time.toLocaleTimeString(undefined, {
      hour: 'numeric',
      minute: '2-digit',
      ...(hasSeconds && { second: '2-digit' }),
    })
    expect(text).toContain(clock)
    if (day) expect(text.replace(clock, '')).toMatch(day)
    else expect(text).toBe(clock)
  }
})
