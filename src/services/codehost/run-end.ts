import { nextFullAt, nextRunAfter } from '../../domain/codehost/progress.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { activityRow } from '../activity/row.ts'
import type { RunError } from './run-errors.ts'
import { tallyOf } from './run-view.ts'

interface RunEnd {
  clock: Clock
  run: SyncRunRow
  error: RunError | null
  rateLimit?: SyncRunRow['rateLimit'] | undefined
}

/** Ends a locked run and logs it: completed without an error, else failed. */
export async function endRun(
  repos: BoundRepositories,
  { clock, run, error, rateLimit = run.rateLimit }: RunEnd,
): Promise<SyncRunRow> {
  const now = clock.now()
  const change = {
    status: error ? ('failed' as const) : ('completed' as const),
    error,
    rateLimit,
    finishedAt: now,
    retryAt: null,
    leaseUntil: null,
    checkpoint: null,
  }
  const ended = { ...run, ...change }
  const connection = await repos.codehost.find(run.projectId)
  await repos.syncRuns.update(run.id, change)
  await repos.syncRuns.deleteSeen(run.id)
  if (connection?.id === run.connectionId) {
    await repos.codehost.update(connection.id, {
      nextRunAt: nextRunAfter({ error, connection, now }),
      ...(run.mode === 'full' && !error && { nextFullAt: nextFullAt('done', now) }),
    })
    // The credentials can read the repository again.
    if (!error) await repos.codehostWrites.resume(connection.id)
  }
  const name = connection?.repository ?? 'the code host'
  const actor = { type: 'codehost' as const, id: run.connectionId, name }
  const { fetched, counts, skipped } = tallyOf(ended)
  const { projectId } = run
  const message = error ? `Syncing ${name} failed: ${error.message}` : `Synced ${name}.`
  const metadata = {
    runId: run.id,
    status: ended.status,
    mode: run.mode,
    fetched,
    ...counts,
    skipped: skipped.length,
    gone: run.gone,
    error,
  }
  await repos.activity.insert([
    activityRow(clock, { now, type: 'sync.finished', actor, projectId, message, metadata }),
  ])
  return ended
}
