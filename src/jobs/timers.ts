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
