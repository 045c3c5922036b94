import type { FastifyBaseLogger } from 'fastify'

/** Does the work of this instance again and again, never twice at once; what fails is tried again next time. */
export function every(ms: number, work: () => Promise<unknown>, logger: Pick<FastifyBaseLogger, 'warn'>) {
  let isWorking = false
  const timer = setInterval(async () => {
    if (isWorking) return
    isWorking = true
    await work().catch((err) => logger.warn({ err }, 'periodic work failed'))
    isWorking = false
  }, ms)
  return { stop: () => clearInterval(timer) }
}

/** How much of the time work may take in this process, while it is busy with other things and while it is not. */
interface Shares {
  busy: number
  quiet: number
}

/** Above this share of its time the event loop is busy. */
const BUSY = 0.3

/**
 * Does work of this instance in bites, and rests after each, so that whatever people wait for goes first. A bite says
 * whether there is more; where there is not, and where it fails, the next comes after the pause.
 */
export function sparingly(
  { shares, pauseMs }: { shares: Shares; pauseMs: number },
  bite: () => Promise<boolean>,
  logger: Pick<FastifyBaseLogger, 'warn'>,
) {
  let isStopped = false
  let timer = setTimeout(biteAndRest, pauseMs)
  let seen = performance.eventLoopUtilization()

  async function biteAndRest() {
    const start = performance.now()
    const isMore = await bite().catch((err) => {
      logger.warn({ err }, 'periodic work failed')
      return false
    })
    const { utilization } = performance.eventLoopUtilization(seen)
    seen = performance.eventLoopUtilization()
    const share = utilization > BUSY ? shares.busy : shares.quiet
    const restMs = (performance.now() - start) * (1 / share - 1)
    if (!isStopped) timer = setTimeout(biteAndRest, isMore ? restMs : pauseMs)
  }

  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
