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

/** The same for at most this share of the time, so that whatever people wait for goes first on a busy machine. */
export function sparingly(
  { share, pauseMs }: { share: number; pauseMs: number },
  work: () => Promise<unknown>,
  logger: Pick<FastifyBaseLogger, 'warn'>,
) {
  let isStopped = false
  let timer = setTimeout(workAndRest, pauseMs)

  async function workAndRest() {
    const start = performance.now()
    await work().catch((err) => logger.warn({ err }, 'periodic work failed'))
    const restMs = (performance.now() - start) * (1 / share - 1)
    if (!isStopped) timer = setTimeout(workAndRest, Math.max(pauseMs, restMs))
  }

  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
