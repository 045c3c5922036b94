import type { FastifyBaseLogger } from 'fastify'
import type { SyncService } from '../services/sync/index.ts'

interface SyncWorkerDeps {
  sync: SyncService
  logger: Pick<FastifyBaseLogger, 'warn' | 'info'>
  /** Between looks for runs that are due or were left by a worker that lives no more. */
  lookMs?: number
  /** Runs at work in this process at once. */
  atOnce?: number
  /** How long a run may work while others wait. */
  turnMs?: number
}

/** Works on sync runs: looks at once, when one is queued here, and every 15 seconds for those of other instances. */
export function startSyncWorker(deps: SyncWorkerDeps) {
  const { sync, logger, lookMs = 15_000, atOnce = 2, turnMs = 10_000 } = deps
  const stopping = new AbortController()
  const working = new Set<Promise<void>>()
  let looking: Promise<void> | undefined
  let isWanted = false

  sync.onQueued(look)
  const timer = setInterval(look, lookMs)
  look()

  return {
    /** What is at work stops after the request it is at; another instance goes on from there. */
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await looking
      await Promise.all(working)
    },
  }

  function look(): void {
    isWanted = true
    looking ??= lookOnce().finally(() => {
      looking = undefined
      if (isWanted && !stopping.signal.aborted) look()
    })
  }

  async function lookOnce(): Promise<void> {
    isWanted = false
    try {
      await sync.enqueueDue()
      while (working.size < atOnce && !stopping.signal.aborted) {
        const run = await sync.claim()
        if (!run) return
        logger.info(
          { runId: run.id, projectId: run.projectId, mode: run.mode, lease: run.lease },
          'sync taken up',
        )
        const work = sync
          .work(run, stopping.signal, turnMs)
          .catch((err) => logger.warn({ err, runId: run.id }, 'sync broke off'))
          .finally(() => {
            working.delete(work)
            if (!stopping.signal.aborted) look()
          })
        working.add(work)
      }
    } catch (err) {
      // Mostly a database that is away; the next look will show.
      logger.warn({ err }, 'no look for sync runs')
    }
  }
}
