import { nextFullAt, nextRunAt } from '../../domain/codehost/progress.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import { inProject, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { LogFailure } from '../codehost/failures.ts'
import { newRun } from '../codehost/index.ts'
import { toSyncRun } from '../codehost/run-view.ts'
import type { CodehostDeps, TokenVault } from '../codehost/token.ts'
import { withLease } from '../leases.ts'
import type { PipeRecorder, Recorder } from '../recorder.ts'
import type { SyncProgress } from './progress.ts'
import { followRepository } from './run.ts'

export type SyncService = ReturnType<typeof syncService>

interface SyncDeps {
  repos: Repositories
  clock: Clock
  progress: Pick<SyncProgress, 'announce'>
  metrics: Pick<Recorder, 'synced'>
  pipes: PipeRecorder
  host: CodehostDeps['host']
  vault: TokenVault
  logFailure?: LogFailure | undefined
  /** Pause before a retry of a request. */
  pauseMs?: number
  heartbeatMs?: number
}

/** Connections queued in one transaction. */
const DUE_BATCH = 100
/** Delay before a run with an unexpected error is resumed. */
const RECOVERY_MS = 5_000

/**
 * Sync runs as background work. The worker that claims a run gets a lease on its row, extends it by a heartbeat, and
 * writes only while the lease is valid.
 */
export function syncService({
  repos,
  clock,
  progress,
  metrics,
  pipes,
  host,
  vault,
  logFailure,
  pauseMs = 1_000,
  heartbeatMs = 5_000,
}: SyncDeps) {
  const { syncQueue } = repos
  let onQueued = () => {}

  return {
    /** Wakes the worker of this instance after a run was queued. */
    wake: () => onQueued(),

    onQueued(listener: () => void): void {
      onQueued = listener
    },

    /** Queues a run for every connection that is due. */
    async enqueueDue(): Promise<void> {
      await repos.transaction(async (repos) => {
        const now = clock.now()
        for (const connection of await repos.syncQueue.listDueForUpdate(now, DUE_BATCH)) {
          const { id, projectId, schedule } = connection
          const isFull = connection.nextFullAt <= now
          const bound = repos.within(inProject(projectId))
          const row = newRun({ id: clock.newId(now), now, connection, mode: isFull ? 'full' : 'incremental' })
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
     * Works on a claimed run until it ends, is postponed, or loses its lease; after its turn it yields to waiting runs.
     * On abort, other instances can resume it at once.
     */
    async work(
      run: SyncRunRow,
      { stop, turnMs = Number.POSITIVE_INFINITY }: { stop: AbortSignal; turnMs?: number | undefined },
    ): Promise<void> {
      const lease = {
        renew: () => syncQueue.renew(run),
        release: (afterMs: number) => syncQueue.release(run, afterMs),
        renewMs: heartbeatMs,
      }
      await withLease(lease, async ({ signal: lost, release }) => {
        const turnEnds = performance.now() + turnMs
        const turn = {
          isOver: () => performance.now() >= turnEnds,
          isAnyWaiting: () => syncQueue.isAnyWaiting(clock.now()),
          release: () => release(0),
        }
        const publish = (run: SyncRunRow) => {
          progress.announce(run)
          metrics.synced(run)
          const pipe = { kind: 'sync', id: run.connectionId } as const
          if (run.status === 'completed') pipes.succeeded(pipe)
          const { error } = toSyncRun(run)
          if (run.status === 'failed' && error) pipes.failed(pipe, error)
          if (error) logFailure?.({ ...error, projectId: run.projectId, runId: run.id }, 'sync failed')
        }
        try {
          const deps = { repos, clock, host, vault, publish, turn, pauseMs }
          const signal = AbortSignal.any([stop, lost])
          await redacted(() => followRepository(deps, { run, signal }))
        } catch (error) {
          if (lost.aborted) return
          await release(stop.aborted ? 0 : RECOVERY_MS).catch(() => {})
          if (!stop.aborted) throw error
        }
      })
    },
  }
}
