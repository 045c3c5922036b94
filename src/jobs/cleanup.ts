import type { FastifyBaseLogger } from 'fastify'
import { traced } from '../lib/traced.ts'
import type { Services } from '../services/index.ts'
import { pausing } from './timers.ts'
import { startWokenWorker } from './woken.ts'

interface CleanupWorkerDeps {
  cleanup: Services['cleanup']
  importing: Pick<Services['importing'], 'isRunning'>
  metrics: Pick<Services['metrics'], 'timed'>
  logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

/** Deletes what is past its retention, whenever that is due and no other instance does it. */
export function startCleanupWorker({ cleanup, importing, metrics, logger }: CleanupWorkerDeps) {
  return startWokenWorker({
    work: cleanUpWhenDue,
    onWake() {},
    pollMs: 30_000,
    failure: 'cleanup failed',
    logger,
  })

  async function cleanUpWhenDue(stopping: AbortSignal): Promise<boolean> {
    // It would wait for the locks of an import.
    if (importing.isRunning()) return false
    await cleanup.whenDue(async (lost) => {
      const pause = pausing({ shares: { busy: 0.3, quiet: 0.9 }, maxMs: 1_000 })
      const signal = AbortSignal.any([stopping, lost])
      const pauseUnlessStopped = async () => {
        await pause()
        signal.throwIfAborted()
      }
      const work = () => metrics.timed('cleanup', () => cleanup.cleanUp(pauseUnlessStopped))
      logger.info(await traced({ name: 'cleanup', kind: 'job' }, work), 'cleanup finished')
    })
    return false
  }
}
