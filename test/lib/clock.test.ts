import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'

test('ids of one process sort as they were made, also within a millisecond, and none repeats', () => {
  const clock = systemClock()
  const time = new Date('2026-01-02T03:04:05.678Z')
  const ids = Array.from({ length: 10_000 }, () => clock.newId(time))
  expect(ids).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
  expect(clock.newId(new Date(time.getTime() + 1)) > (ids.at(-1) ?? '')).toBe(true)
})

test('an id holds its time', () => {
  const time = new Date('2026-01-02T03:04:05.678Z')
  const id = systemClock().newId(time)
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(time.getTime())
  expect(id[14]).toBe('7')
})
