import type { FastifyBaseLogger } from 'fastify'
import { traced, type Work } from '../lib/traced.ts'
import type { SyncService } from '../services/sync/index.ts'
import { startWokenWorker } from './woken.ts'

interface SyncWorkerDeps {
  sync: SyncService
  logger: Pick<FastifyBaseLogger, 'warn' | 'info'>
  /** Interval of polling for runs that are due or whose worker has died. */
  pollMs?: number
  /** Maximum of concurrent runs in this process. */
  concurrency?: number
  /** Maximum time to work on a run while other runs are waiting. */
  turnMs?: number
}

/**
 * Works on sync runs: looks for them at once when one is queued in this process, and every 15 seconds for those of other
 * instances.
 */
export function startSyncWorker(deps: SyncWorkerDeps) {
  const { sync, logger, pollMs = 15_000, concurrency = 2, turnMs = 10_000 } = deps
  const working = new Set<Promise<void>>()
  const worker = startWokenWorker({
    work: startRuns,
    onWake: sync.onQueued,
    pollMs,
    failure: 'could not look for sync runs',
    logger,
  })

  return {
    /** Runs in progress stop after their current request; another instance continues them. */
    async stop(): Promise<void> {
      await worker.stop()
      await Promise.all(working)
    },
  }

  async function startRuns(stop: AbortSignal): Promise<boolean> {
    await sync.enqueueDue()
    while (working.size < concurrency && !stop.aborted) {
      const run = await sync.claim()
      if (!run) return false
      logger.info(
        { runId: run.id, projectId: run.projectId, mode: run.mode, lease: run.lease },
        'sync started or continued',
      )
      const work = traced(jobOf(run), () => sync.work(run, { stop, turnMs }))
        .catch((err) => logger.warn({ err, runId: run.id }, 'sync interrupted'))
        .finally(() => {
          working.delete(work)
          worker.wake()
        })
      working.add(work)
    }
    return false
  }
}

const jobOf = ({ id, projectId, mode }: NonNullable<Awaited<ReturnType<SyncService['claim']>>>): Work => ({
  name: 'sync',
  kind: 'job',
  attributes: { 'inlet.sync_run.id': id, 'inlet.project.id': projectId, 'inlet.sync_run.mode': mode },
})
