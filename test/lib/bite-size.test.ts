import { expect, test } from 'vitest'
import { biteSize } from '../../src/lib/bite-size.ts'

test('a bite grows where it is faster than it may be, twice at most, and shrinks where it is slower', () => {
  const size = biteSize(50)
  expect(size.now).toBe(100)
  size.learn(40, true)
  expect(size.now).toBe(125)
  size.learn(1, true)
  expect(size.now).toBe(250)
  size.learn(100, true)
  expect(size.now).toBe(125)
})

test('a bite keeps within its bounds', () => {
  const size = biteSize(50)
  for (let n = 0; n < 9; n++) size.learn(1, true)
  expect(size.now).toBe(1_000)
  for (let n = 0; n < 9; n++) size.learn(10_000, true)
  expect(size.now).toBe(50)
})

test('a part of a bite says something only where it was slow', () => {
  const size = biteSize(50)
  size.learn(1, false)
  expect(size.now).toBe(100)
  size.learn(100, false)
  expect(size.now).toBe(50)
})
