import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { paced, pausing } from '../../src/jobs/timers.ts'

const logger = { warn: () => {} }

describe('steps with a share of a quarter', () => {
  test.each([
    ['after them', false],
    ['in their turn', true],
  ])('leave three quarters to others, with pauses %s', async (_, isInTurn) => {
    const steps: { from: number; to: number }[] = []
    const done = Promise.withResolvers<void>()
    const timer = paced(
      async (pause) => {
        if (isInTurn) await pause()
        const from = performance.now()
        await sleep(20)
        steps.push({ from, to: performance.now() })
        if (steps.length === 6) done.resolve()
        return true
      },
      { shares: { busy: 0.25, quiet: 0.25 }, pauseMs: 100, logger },
    )
    await done.promise
    timer.stop()

    for (const [index, { from }] of steps.entries()) {
      const last = steps[index - 1]
      // Timers are exact to a millisecond.
      if (last) expect(from - last.to).toBeGreaterThanOrEqual(Math.min(3 * (last.to - last.from), 100) - 3)
    }
  })
})

test('a step that fails or has nothing to do is followed by the long pause', async () => {
  const starts: number[] = []
  const done = Promise.withResolvers<void>()
  const timer = paced(
    async () => {
      starts.push(performance.now())
      if (starts.length === 3) done.resolve()
      if (starts.length === 1) throw new Error('The database is away.')
      return false
    },
    { shares: { busy: 1, quiet: 1 }, pauseMs: 50, logger },
  )
  await done.promise
  timer.stop()

  for (const [index, start] of starts.entries()) {
    expect(start - (starts[index - 1] ?? 0)).toBeGreaterThanOrEqual(48)
  }
})

test('a long job with a share of a quarter pauses three times as long as it worked, up to the maximum', async () => {
  const pause = pausing({ shares: { busy: 0.25, quiet: 0.25 }, maxMs: 100 })
  for (const workMs of [20, 60]) {
    await sleep(workMs)
    const since = performance.now()
    await pause()
    const pausedMs = performance.now() - since
    expect(pausedMs).toBeGreaterThanOrEqual(Math.min(3 * workMs, 100) - 3)
  }
})
