import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { snoozeTimes, typedTime } from '../../../src/dashboard/tasks/snooze-times.ts'

const local = (time: Date | undefined) => time && `${time.toDateString()} ${time.toTimeString().slice(0, 5)}`

const timesAt = (now: Date) =>
  Object.fromEntries(snoozeTimes(now).map(({ label, time }) => [label, local(time)]))

let zone: string | undefined
beforeAll(() => {
  zone = process.env.TZ
  process.env.TZ = 'Europe/Berlin'
})
afterAll(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

describe('the times to snooze until', () => {
  test('are mornings', () => {
    expect(timesAt(new Date(2026, 10, 27, 17, 20))).toEqual({
      'In three hours': 'Fri Nov 27 2026 20:20',
      Tomorrow: 'Sat Nov 28 2026 09:00',
      'Next week': 'Mon Nov 30 2026 09:00',
      'In a month': 'Sun Dec 27 2026 09:00',
    })
  })

  test('are a week later on a Monday', () => {
    expect(timesAt(new Date(2026, 10, 30, 8))['Next week']).toBe('Mon Dec 07 2026 09:00')
    expect(timesAt(new Date(2026, 10, 29, 8))['Next week']).toBe('Mon Nov 30 2026 09:00')
  })

  test('are nine by the clock over a change to summer time', () => {
    const now = new Date(2027, 2, 27, 12)
    expect(timesAt(now).Tomorrow).toBe('Sun Mar 28 2027 09:00')
    const [, tomorrow] = snoozeTimes(now)
    expect(tomorrow?.time.toISOString()).toBe('2027-03-28T07:00:00.000Z')
  })

  test('are in the next month, even if that is shorter', () => {
    expect(timesAt(new Date(2027, 0, 31, 12))['In a month']).toBe('Sun Feb 28 2027 09:00')
    expect(timesAt(new Date(2026, 11, 31, 12))['In a month']).toBe('Sun Jan 31 2027 09:00')
  })
})

describe('a typed time', () => {
  test.each([
    ['2027-01-31', 'Sun Jan 31 2027 09:00'],
    [' 2027-01-31 14:30 ', 'Sun Jan 31 2027 14:30'],
    ['2027-01-31T14:30', 'Sun Jan 31 2027 14:30'],
    ['9999-12-31', 'Fri Dec 31 9999 09:00'],
  ])('of %j', (text, expected) => {
    expect(local(typedTime(text))).toBe(expected)
  })

  test.each(['', 'tomorrow', '2027-02-30', '2027-13-01', '2027-01-31 24:00', '2027-01-31 9', '1'])(
    'is not %j',
    (text) => {
      expect(typedTime(text)).toBeUndefined()
    },
  )
})
