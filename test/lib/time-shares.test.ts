import { expect, test } from 'vitest'
import { timeShares } from '../../src/lib/time-shares.ts'

function given() {
  let at = 0
  const shares = timeShares({ shareMs: 1_000, windowMs: 10_000, now: () => at })
  return { ...shares, passed: (ms: number) => (at += ms) }
}

test('an owner may use its share of each window, and then waits until it leaves the window', () => {
  const { record, overForMs, usedMs, passed } = given()
  for (let use = 0; use < 4; use++) {
    expect(overForMs('a')).toBe(0)
    record('a', 250)
    passed(1_000)
  }
  expect(usedMs('a')).toBe(1_000)
  // The first use was four seconds ago.
  expect(overForMs('a')).toBe(6_000)
  passed(6_000)
  expect(overForMs('a')).toBe(0)
  expect(usedMs('a')).toBe(750)
})

test('an owner whose last use would not fit once more waits until it does', () => {
  const { record, overForMs, passed } = given()
  record('a', 600)
  expect(overForMs('a')).toBe(10_000)
  passed(10_000)
  expect(overForMs('a')).toBe(0)
})

test('one use may be longer than the share', () => {
  const { record, overForMs, passed } = given()
  record('a', 1_500)
  expect(overForMs('a')).toBe(10_000)
  passed(10_000)
  expect(overForMs('a')).toBe(0)
})

test('owners do not share', () => {
  const { record, overForMs, usedMs } = given()
  record('a', 1_000)
  expect([overForMs('b'), usedMs('b')]).toEqual([0, 0])
})

test('many short uses count together', () => {
  const { record, overForMs, usedMs, passed } = given()
  for (let use = 0; use < 900; use++) {
    record('a', 1)
    passed(1)
  }
  expect([usedMs('a'), overForMs('a')]).toEqual([900, 0])
  record('a', 150)
  expect(overForMs('a')).toBeGreaterThan(9_000)
})
