import type { FastifyBaseLogger } from 'fastify'

/** Runs `work` of this instance periodically, never twice at once; a failure is retried at the next interval. */
export function every(
  work: () => Promise<unknown>,
  { ms, logger }: { ms: number; logger: Pick<FastifyBaseLogger, 'warn'> },
) {
  let isWorking = false
  const timer = setInterval(async () => {
    if (isWorking) return
    isWorking = true
    await work().catch((err) => logger.warn({ err }, 'periodic job failed'))
    isWorking = false
  }, ms)
  return { stop: () => clearInterval(timer) }
}

/** Maximum share of time that the work may take, while this process is busy and while it is not. */
interface Shares {
  busy: number
  quiet: number
}

/** The process counts as busy above this event-loop utilization. */
const BUSY = 0.3

/**
 * Runs `work` of this instance in small steps with a pause after each, so that requests come first. A step returns
 * whether there is more to do; if not, or if it fails, the next one runs after `pauseMs`.
 */
export function paced(
  step: () => Promise<boolean>,
  { shares, pauseMs, logger }: { shares: Shares; pauseMs: number; logger: Pick<FastifyBaseLogger, 'warn'> },
) {
  let isStopped = false
  let timer = setTimeout(stepAndPause, pauseMs)
  let seen = performance.eventLoopUtilization()

  async function stepAndPause() {
    const start = performance.now()
    const isMore = await step().catch((err) => {
      logger.warn({ err }, 'periodic job failed')
      return false
    })
    const { utilization } = performance.eventLoopUtilization(seen)
    seen = performance.eventLoopUtilization()
    const share = utilization > BUSY ? shares.busy : shares.quiet
    const pauseAfterMs = (performance.now() - start) * (1 / share - 1)
    if (!isStopped) timer = setTimeout(stepAndPause, isMore ? pauseAfterMs : pauseMs)
  }

  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
