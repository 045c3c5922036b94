import { setTimeout as wait } from 'node:timers/promises'
import type { ActorRef } from '../domain/new-task.ts'
import { adaptiveBatchSize } from '../lib/batch-size.ts'
import type { Clock } from '../lib/clock.ts'
import type { ListDeletionRow } from '../repositories/deletions.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../repositories/index.ts'

/** What has at most this many tasks, deleted ones included, is deleted in one transaction: about 50 ms. */
export const MAX_AT_ONCE = 100

/** Target duration of one transaction: nobody waits longer for one of its tasks. */
const BATCH_MS = 50

/** Pause before a retry: another deletion has its turn, or tasks are being added or are locked. */
const PAUSE_MS = 20

/** The result of one batch; `ended` if it is deleted or was cancelled, `waiting` if nothing could be done. */
type Progress = 'ended' | 'progressed' | 'waiting'

export interface DeletionDeps {
  repos: Repositories
  clock: Clock
  /** How long a request deletes before it leaves the rest to the job. */
  deletionMs?: number
}

/** What is deleted: lists, or projects. */
interface Deleted<Row> {
  isGone(id: string): Promise<boolean>
  /** Whether its deletion was started, and neither finished nor cancelled. */
  isPending(id: string): Promise<boolean>
  /** Locks a deletion, any or a given one, until the transaction ends. Never waits. */
  claim(repos: BoundRepositories, id: string | undefined): Promise<Row | undefined>
  /** Takes one batch of tasks out of it, without locked ones. Returns how many, and whether none were left for the next. */
  takeSome(
    repos: BoundRepositories,
    batch: { deletion: Row; limit: number },
  ): Promise<{ count: number; isLast: boolean }>
  /** Deletes it, if its deletion was not cancelled. Returns false if it has to be retried. */
  finish(deletion: Row): Promise<boolean>
}

/**
 * Deletes what has many tasks in short transactions, first in the request, then in the background job of any instance.
 * Each batch is final, so a killed process loses nothing. Only the last step locks what is deleted.
 */
export function largeDeletions<Row>(
  deleted: Deleted<Row>,
  { repos, deletionMs = 2_000 }: Omit<DeletionDeps, 'clock'>,
) {
  const batchSize = adaptiveBatchSize(BATCH_MS)

  return {
    /** Starts a deletion, which may be all, and works on it while the request waits; returns true if it is finished. */
    async delete(id: string, begin: () => Promise<boolean>): Promise<boolean> {
      if (await begin()) return true
      const deadline = performance.now() + deletionMs
      let workedMs = 0
      while (performance.now() < deadline) {
        const start = performance.now()
        const owedMs = workedMs
        // Half of the time is left to others: a deletion without pauses takes a processor of the database.
        const progress = await workOn(id, () => wait(owedMs))
        if (progress === 'ended') break
        if (progress === 'progressed') workedMs = performance.now() - start - owedMs
        else await wait(PAUSE_MS)
      }
      return deleted.isGone(id)
    },

    /** Continues one deletion by one batch; returns whether there is more to do. */
    async work(pause?: () => Promise<void>): Promise<boolean> {
      const { deletionTurn } = repos.within(everywhere)
      return (await deletionTurn.isNeeded()) && (await workOn(undefined, pause)) !== 'waiting'
    },
  }

  async function workOn(id: string | undefined, pause = async () => {}): Promise<Progress> {
    const limit = batchSize.now
    let start = 0
    const batch = await repos.within(everywhere).transaction(async (repos) => {
      if (!(await repos.deletionTurn.take())) return undefined
      // Nothing else is locked yet.
      await pause()
      start = performance.now()
      const deletion = await deleted.claim(repos, id)
      return deletion && { deletion, ...(await deleted.takeSome(repos, { deletion, limit })) }
    })
    if (!batch) return id !== undefined && !(await deleted.isPending(id)) ? 'ended' : 'waiting'
    const { deletion, count, isLast } = batch
    batchSize.learn(performance.now() - start, count === limit)
    if (isLast && (await deleted.finish(deletion))) return 'ended'
    return count > 0 ? 'progressed' : 'waiting'
  }
}

/** Who started a deletion. */
export const deleterOf = (
  deletion: Pick<ListDeletionRow, 'actorType' | 'actorId' | 'actorName'>,
): ActorRef => ({
  type: deletion.actorType,
  id: deletion.actorId,
  name: deletion.actorName,
})
