import { setTimeout as wait } from 'node:timers/promises'
import { overviewNotCounted } from '../../errors/index.ts'
import type { Repositories } from '../../repositories/index.ts'

/** About 50 ms: the worker's pauses are in proportion, and longer ones would be cut. */
const FILL_BATCH = 2_000
const CHANGES_BATCH = 1_000
/** What one request waits while the tasks from before are counted: at about 30,000 tasks a second. */
const MAX_WAIT_MS = 10_000
const BUSY_MS = 100

export type OverviewCounting = ReturnType<typeof overviewCounting>

/** Counts what the overview shows: first the tasks that are there, then what changes. */
export function overviewCounting({ repos }: { repos: Pick<Repositories, 'overviewCounts' | 'transaction'> }) {
  return { work, fill }

  /** One step; returns whether there is more to do. Called by the worker every few seconds, on one instance at a time. */
  function work(): Promise<boolean> {
    return repos.transaction(async ({ overviewCounts }) => {
      const progress = await overviewCounts.lock()
      if (!progress) return false
      if (progress.isFilled) return (await overviewCounts.follow(progress, CHANGES_BATCH)) === CHANGES_BATCH
      await overviewCounts.fill(progress, FILL_BATCH)
      return true
    })
  }

  /**
   * Counts the tasks that are there, unless all are counted: after an upgrade or an import, the worker may not be done.
   * @throws unavailable if that takes too long
   */
  async function fill(): Promise<void> {
    const since = performance.now()
    while (!(await repos.overviewCounts.isFilled())) {
      if (performance.now() - since > MAX_WAIT_MS) throw overviewNotCounted()
      if (!(await work())) await wait(BUSY_MS)
    }
  }
}
