import { describe, expect, test } from 'vitest'
import { firstIdOf, timeOf } from '../../src/domain/id-time.ts'
import { replayFrom } from '../../src/domain/replay.ts'
import { systemClock } from '../../src/lib/clock.ts'

const now = new Date('2026-11-21T08:00:00.000Z')
const clock = systemClock()
const idAt = (time: string) => clock.newId(new Date(time))
const V4 = '6fa459ea-ee8a-4ca4-894e-db77e160355e'

describe('the first id of a time', () => {
  test('is at or below every id generated then, and above all earlier ones', () => {
    const first = firstIdOf(now)
    for (let i = 0; i < 1_000; i++) {
      expect(clock.newId(now) >= first).toBe(true)
      expect(clock.newId(new Date(now.getTime() - 1)) < first).toBe(true)
    }
  })

  test('encodes its time, and 1970 for an earlier time', () => {
    expect(timeOf(firstIdOf(now))).toEqual(now)
    expect(timeOf(firstIdOf(new Date(-5)))).toEqual(new Date(0))
    expect(timeOf(V4)).toBeUndefined()
  })
})

describe('a replay', () => {
  test.each([
    ['a minute before a known activity', idAt('2026-11-21T07:30:00.123Z'), true, '2026-11-21T07:29:00.123Z'],
    ['also where it is old', idAt('2026-01-01T00:00:00.000Z'), true, '2025-12-31T23:59:00.000Z'],
    [
      'a minute before now where it is of the future',
      idAt('2027-01-01T00:00:00.000Z'),
      true,
      '2026-11-21T07:59:00.000Z',
    ],
    [
      'a minute before an unknown one of today',
      idAt('2026-11-21T07:30:00.000Z'),
      false,
      '2026-11-21T07:29:00.000Z',
    ],
    [
      'a day ago where it is unknown and old',
      idAt('2026-01-01T00:00:00.000Z'),
      false,
      '2026-11-20T07:59:00.000Z',
    ],
    ['a day ago for an id without a time', V4, false, '2026-11-20T07:59:00.000Z'],
  ])('begins %s', (_, lastSeen, isKnown, from) => {
    expect(timeOf(replayFrom(lastSeen, { isKnown, now }))?.toISOString()).toBe(from)
  })
})
