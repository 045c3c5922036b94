import type { FastifyBaseLogger } from 'fastify'
import { traced, type Work } from '../lib/traced.ts'
import type { SyncService } from '../services/sync/index.ts'
import { asJob } from './woken.ts'

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
 * Works on sync runs: polls at once when a run is queued in this process, and every 15 seconds for those of other
 * instances.
 */
export function startSyncWorker(deps: SyncWorkerDeps) {
  const { sync, logger, pollMs = 15_000, concurrency = 2, turnMs = 10_000 } = deps
  const stopping = new AbortController()
  const working = new Set<Promise<void>>()
  let polling: Promise<void> | undefined
  let isPending = false

  sync.onQueued(poll)
  const timer = setInterval(poll, pollMs)
  poll()

  return {
    /** Runs in progress stop after their current request; another instance continues them. */
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await polling
      await Promise.all(working)
    },
  }

  function poll(): void {
    isPending = true
    polling ??= asJob(pollOnce).finally(() => {
      polling = undefined
      if (isPending && !stopping.signal.aborted) poll()
    })
  }

  async function pollOnce(): Promise<void> {
    isPending = false
    try {
      await sync.enqueueDue()
      while (working.size < concurrency && !stopping.signal.aborted) {
        const run = await sync.claim()
        if (!run) return
        logger.info(
          { runId: run.id, projectId: run.projectId, mode: run.mode, lease: run.lease },
          'sync started or continued',
        )
        const work = traced(jobOf(run), () => sync.work(run, { stop: stopping.signal, turnMs }))
          .catch((err) => logger.warn({ err, runId: run.id }, 'sync interrupted'))
          .finally(() => {
            working.delete(work)
            if (!stopping.signal.aborted) poll()
          })
        working.add(work)
      }
    } catch (err) {
      // Usually the database is unavailable; the next poll retries.
      logger.warn({ err }, 'could not look for sync runs')
    }
  }
}

const jobOf = ({ id, projectId, mode }: NonNullable<Awaited<ReturnType<SyncService['claim']>>>): Work => ({
  name: 'sync',
  kind: 'job',
  attributes: { 'inlet.sync_run.id': id, 'inlet.project.id': projectId, 'inlet.sync_run.mode': mode },
})
