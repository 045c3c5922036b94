import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { periodically } from '../lib/periodically.ts'

/** Runs `work` of this instance periodically, never twice at once; a failure is retried at the next interval. */
export function every(
  work: () => Promise<unknown>,
  { ms, logger }: { ms: number; logger: Pick<FastifyBaseLogger, 'warn'> },
) {
  return periodically(async () => {
    await work().catch((err) => logger.warn({ err }, 'periodic job failed'))
  }, ms)
}

/** Maximum share of time that the work may take, while this process is busy and while it is not. */
interface Shares {
  busy: number
  quiet: number
}

/** Waits for the pause that the step before owes. */
type Pause = () => Promise<void>

/** The process counts as busy above this event-loop utilization. */
const BUSY = 0.3

/**
 * Runs `work` of this instance in small steps with a pause between them, so that requests come first. A step returns
 * whether there is more to do; if not, or if it fails, the next one runs after `pauseMs`, and no pause is longer. A step
 * may pause itself at its start, while it keeps other instances from working in the pause.
 */
export function paced(
  step: (pause: Pause) => Promise<boolean>,
  { shares, pauseMs, logger }: { shares: Shares; pauseMs: number; logger: Pick<FastifyBaseLogger, 'warn'> },
) {
  const pauseAfter = pauseByShares({ shares, maxMs: pauseMs })
  let isStopped = false
  let timer = setTimeout(stepAndPause, pauseMs)
  let owedMs = 0

  async function stepAndPause() {
    const start = performance.now()
    let pausedMs: number | undefined
    const pause = async () => {
      const since = performance.now()
      await wait(owedMs)
      pausedMs = performance.now() - since
    }
    const isMore = await step(pause).catch((err) => {
      logger.warn({ err }, 'periodic job failed')
      return false
    })
    const pauseOwedMs = pauseAfter(performance.now() - start - (pausedMs ?? 0))
    if (isMore) owedMs = pauseOwedMs
    const pauseAfterMs = pausedMs === undefined ? owedMs : 0
    if (!isStopped) timer = setTimeout(stepAndPause, isMore ? pauseAfterMs : pauseMs)
  }

  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

interface PauseOptions {
  shares: Shares
  maxMs: number
}

/** Returns a function that waits between the steps of a long job, so that requests come first, as `paced` does. */
export function pausing(options: PauseOptions): Pause {
  const pauseAfter = pauseByShares(options)
  let since = performance.now()
  return async () => {
    await wait(pauseAfter(performance.now() - since))
    since = performance.now()
  }
}

/** Returns the pause after so much work. The process is busy or not since the call before. */
function pauseByShares({ shares, maxMs }: PauseOptions): (workMs: number) => number {
  let seen = performance.eventLoopUtilization()
  return (workMs) => {
    const { utilization } = performance.eventLoopUtilization(seen)
    seen = performance.eventLoopUtilization()
    const share = utilization > BUSY ? shares.busy : shares.quiet
    return Math.min(workMs * (1 / share - 1), maxMs)
  }
}
