import { expect, test } from 'vitest'
import { adaptiveBatchSize } from '../../src/lib/batch-size.ts'

test('a batch grows when it is faster than its target, twice at most, and shrinks when it is slower', () => {
  const size = adaptiveBatchSize(50)
  expect(size.now).toBe(100)
  size.learn(40, true)
  expect(size.now).toBe(125)
  size.learn(1, true)
  expect(size.now).toBe(250)
  size.learn(100, true)
  expect(size.now).toBe(125)
})

test('a batch stays within its bounds', () => {
  const size = adaptiveBatchSize(50)
  for (let n = 0; n < 9; n++) size.learn(1, true)
  expect(size.now).toBe(1_000)
  for (let n = 0; n < 9; n++) size.learn(10_000, true)
  expect(size.now).toBe(50)
})

test('a partly filled batch counts only when it was slow', () => {
  const size = adaptiveBatchSize(50)
  size.learn(1, false)
  expect(size.now).toBe(100)
  size.learn(100, false)
  expect(size.now).toBe(50)
})
