import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { startPushWorker } from '../../src/jobs/push.ts'

const logger = pino({ level: 'silent' })

/** A push service that records when the worker applies deliveries, and returns these results in turn. */
function recordingPush(results: boolean[]) {
  const calls: number[] = []
  let wake = () => {}
  let duringCall = () => {}
  return {
    calls,
    wake: () => wake(),
    set duringCall(work: () => void) {
      duringCall = work
    },
    push: {
      onReceived(listener: () => void) {
        wake = listener
      },
      async whenRefetched() {},
      async applyDue() {
        calls.push(performance.now())
        await Promise.resolve()
        duringCall()
        return results.shift() ?? false
      },
    },
  }
}

test('deliveries are applied at once, and without a pause as long as more are due', async () => {
  const { push, calls } = recordingPush([true, true])
  const worker = startPushWorker({ push, logger, roundMs: 60_000 })
  await vi.waitFor(() => expect(calls).toHaveLength(3))
  await worker.stop()
})

test('deliveries that arrive during a round wait for the next one, and stopping does not', async () => {
  const recording = recordingPush([])
  const worker = startPushWorker({ push: recording.push, logger, roundMs: 60_000 })
  await vi.waitFor(() => expect(recording.calls).toHaveLength(1))
  for (let i = 0; i < 20; i++) recording.wake()
  await worker.stop()
  expect(recording.calls).toHaveLength(1)
})

test('the next round begins by itself, and applies all that arrived', async () => {
  const recording = recordingPush([])
  recording.duringCall = () => {
    if (recording.calls.length === 1) for (let i = 0; i < 20; i++) recording.wake()
  }
  const worker = startPushWorker({ push: recording.push, logger, roundMs: 100, pollMs: 60_000 })
  await vi.waitFor(() => expect(recording.calls).toHaveLength(2))
  const [first = 0, second = 0] = recording.calls
  // Timers may fire a millisecond early.
  expect(second - first).toBeGreaterThan(95)
  await worker.stop()
  expect(recording.calls).toHaveLength(2)
})
