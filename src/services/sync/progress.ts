import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { SyncRun } from '../../schemas/sync-run.ts'
import type { ActivityFeed } from '../activity/feed.ts'
import { toSyncRun } from '../codehost/run-view.ts'

export type SyncProgress = ReturnType<typeof syncProgress>

interface SyncProgressDeps {
  repos: Pick<Repositories, 'syncQueue'>
  feed: Pick<ActivityFeed, 'publish'>
  /** Identifies this process among those on the same database. */
  instance: string
}

/** PostgreSQL limits a notice to 7,999 bytes. A run that skipped hundreds of items is longer. */
const MAX_BYTES = 7_900

type Notice = { from: string } & ({ run: SyncRun } | { runId: string })

/** Sends the progress of a sync to subscribers: directly on this instance, by database notices on others. */
export function syncProgress({ repos, feed, instance }: SyncProgressDeps) {
  const { syncQueue } = repos
  // In order, so that progress never decreases.
  let sent = Promise.resolve()
  let received = Promise.resolve()

  return {
    announce(row: SyncRunRow): void {
      const run = toSyncRun(row)
      publish(run)
      // A lost notice is only a missing update: the run itself is in the database.
      sent = sent.then(() => syncQueue.announce(noticeOf(run))).catch(() => {})
    },

    /** Handles a notice; an empty one means that the connection was lost. */
    receive(payload: string): void {
      if (payload === '') return
      const notice = JSON.parse(payload) as Notice
      if (notice.from === instance) return
      received = received
        .then(async () => publish('run' in notice ? notice.run : await find(notice.runId)))
        .catch(() => {})
    },
  }

  function publish(run: SyncRun | undefined): void {
    if (!run) return
    feed.publish({ id: null, type: 'sync.progress', projectId: run.projectId, data: JSON.stringify(run) })
  }

  async function find(runId: string): Promise<SyncRun | undefined> {
    const row = await syncQueue.find(runId)
    return row && toSyncRun(row)
  }

  function noticeOf(run: SyncRun): string {
    const whole = JSON.stringify({ from: instance, run } satisfies Notice)
    if (Buffer.byteLength(whole) <= MAX_BYTES) return whole
    return JSON.stringify({ from: instance, runId: run.id } satisfies Notice)
  }
}
