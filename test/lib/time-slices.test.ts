import { expect, test } from 'vitest'
import { timeSlices } from '../../src/lib/time-slices.ts'

test('long work lets others run between its slices', async () => {
  let others = 0
  const timer = setInterval(() => others++, 1)
  const breathe = timeSlices(5)
  // On a busy machine, a timer can be late.
  const end = performance.now() + 5_000
  while (others < 2 && performance.now() < end) await breathe()
  clearInterval(timer)
  expect(others).toBe(2)
})

test('short work is not interrupted', async () => {
  let isInterrupted = false
  const breathe = timeSlices(60_000)
  setImmediate(() => {
    isInterrupted = true
  })
  for (let step = 0; step < 1_000; step++) await breathe()
  expect(isInterrupted).toBe(false)
})
