import { expect, test } from 'vitest'
import { timeSlices } from '../../src/lib/time-slices.ts'

test('long work lets others run between its slices', async () => {
  let others = 0
  const timer = setInterval(() => others++, 1)
  const yieldWhenDue = timeSlices(5)
  // On a busy machine, a timer can be late.
  const end = performance.now() + 5_000
  while (others < 2 && performance.now() < end) await yieldWhenDue()
  clearInterval(timer)
  expect(others).toBe(2)
})

test('short work is not interrupted', async () => {
  let isInterrupted = false
  const yieldWhenDue = timeSlices(60_000)
  setImmediate(() => {
    isInterrupted = true
  })
  for (let step = 0; step < 1_000; step++) await yieldWhenDue()
  expect(isInterrupted).toBe(false)
})
