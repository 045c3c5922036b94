import { nextFullAt, nextRunAt } from '../../domain/codehost/progress.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { Repositories } from '../../repositories/index.ts'
import { newRun } from '../codehost/index.ts'
import type { CodehostDeps, TokenVault } from '../codehost/token.ts'
import type { Metrics } from '../metrics/index.ts'
import type { SyncProgress } from './progress.ts'
import { followRepository } from './run.ts'

export type SyncService = ReturnType<typeof syncService>

interface SyncDeps {
  repos: Repositories
  clock: Clock
  progress: Pick<SyncProgress, 'announce'>
  metrics: Pick<Metrics, 'synced'>
  host: CodehostDeps['host']
  vault: TokenVault
  /** Between tries of one request. */
  pauseMs?: number
  heartbeatMs?: number
}

/** Connections queued at once. */
const DUE_BATCH = 100
/** A run that broke for no known reason is left alone for a moment. */
const RECOVERY_SECONDS = 5

/**
 * The runs as work for the background: whoever has claimed one holds a lease on its row, shows by a heartbeat that it
 * lives, and writes only while the lease is its own.
 */
export function syncService({
  repos,
  clock,
  progress,
  metrics,
  host,
  vault,
  pauseMs = 1_000,
  heartbeatMs = 5_000,
}: SyncDeps) {
  const { syncQueue } = repos
  let onQueued = () => {}

  return {
    /** Something was queued: the worker of this instance need not wait for its next look. */
    wake: () => onQueued(),

    onQueued(listener: () => void): void {
      onQueued = listener
    },

    /** Queues a run for every connection whose time has come. */
    async enqueueDue(): Promise<void> {
      await repos.transaction(async (repos) => {
        const now = clock.now()
        for (const connection of await repos.syncQueue.listDueForUpdate(now, DUE_BATCH)) {
          const { id, projectId, schedule } = connection
          const isFull = connection.nextFullAt <= now
          const bound = repos.within({ projectId })
          const row = newRun(clock.newId(now), now, connection, isFull ? 'full' : 'incremental')
          if (!(await bound.syncRuns.insert(row))) continue
          await bound.codehost.update(id, {
            nextRunAt: nextRunAt(schedule, now),
            ...(isFull && { nextFullAt: nextFullAt('attempted', now) }),
          })
        }
      })
    },

    claim: (): Promise<SyncRunRow | undefined> => syncQueue.claim(clock.now()),

    /**
     * Works on a claimed run until it ends, is put off, or is lost; past its turn it gives way to whoever waits. When
     * told to stop, others go on at once.
     */
    async work(run: SyncRunRow, stop: AbortSignal, turnMs = Number.POSITIVE_INFINITY): Promise<void> {
      const turnEnds = performance.now() + turnMs
      const turn = {
        isOver: () => performance.now() >= turnEnds,
        isAnyWaiting: () => syncQueue.isAnyWaiting(clock.now()),
        release: () => syncQueue.release(run, { afterSeconds: 0 }),
      }
      const lost = new AbortController()
      const signal = AbortSignal.any([stop, lost.signal])
      const heartbeat = setInterval(async () => {
        // A database that is away says nothing about the lease; the next page will.
        const isOurs = await syncQueue.extend(run).catch(() => true)
        if (!isOurs) lost.abort()
      }, heartbeatMs)
      const publish = (run: SyncRunRow) => {
        progress.announce(run)
        metrics.synced(run)
      }
      try {
        const deps = { repos, clock, host, vault, publish, turn, pauseMs }
        await syncQueue.redacted(() => followRepository(deps, run, signal))
      } catch (error) {
        if (lost.signal.aborted) return
        await syncQueue.release(run, { afterSeconds: stop.aborted ? 0 : RECOVERY_SECONDS }).catch(() => {})
        if (!stop.aborted) throw error
      } finally {
        clearInterval(heartbeat)
      }
    },
  }
}
