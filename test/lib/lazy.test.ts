import { expect, test } from 'vitest'
import { lazily } from '../../src/lib/lazy.ts'

test('a lazy value is made when it is first needed, and once', () => {
  let made = 0
  const value = lazily(() => ++made)
  expect(made).toBe(0)

  expect([value(), value()]).toEqual([1, 1])
})

test('a lazy value may be undefined', () => {
  let made = 0
  const value = lazily(() => void made++)

  expect([value(), value(), made]).toEqual([undefined, undefined, 1])
})
