import { firstIdOf } from '../domain/id-time.ts'
import { TRASH_RETENTION_MS } from '../domain/trash.ts'
import type { Clock } from '../lib/clock.ts'
import { everywhere, type Repositories } from '../repositories/index.ts'
import { SESSION_IDLE_MS } from './access.ts'
import { RESPONSES_KEPT_MS } from './idempotency.ts'
import { withLease } from './leases.ts'

const DAY_MS = 86_400_000
const PAYLOAD_RETENTION_MS = 30 * DAY_MS
const IGNORED_RETENTION_MS = 7 * DAY_MS
/** Of deliveries to outgoing webhooks. */
const FINISHED_RETENTION_MS = 7 * DAY_MS
/** Of notifications that were read. */
const READ_RETENTION_MS = 30 * DAY_MS
/** About 50 ms: the longest that restoring one of the tasks, or archiving its project, waits. */
const BATCH = 200
/** Each rule is deleted with all its versions. */
const RULE_BATCH = 100

const INTERVAL_MS = 10 * 60_000
/** After an error, or when the process ends in the middle of it. */
const RETRY_MS = 60_000
/** If an instance is killed, another one cleans up then. */
const LEASE_MS = 60_000
const RENEW_MS = 10_000

const NEVER_PROCESSED = {
  path: '',
  code: 'expired',
  message: 'The delivery was pending for 30 days, because its source was switched off.',
}

/** Deletes what is past its retention. Safe to run concurrently and to be killed at any point. */
export function cleanupService({ repos, clock }: { repos: Repositories; clock: Pick<Clock, 'now'> }) {
  return {
    /** Calls `work` every ten minutes on one of all instances: nothing happens if that is not due. */
    async whenDue(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
      const lease = await repos.leases.take('cleanup', LEASE_MS)
      if (!lease) return
      const taken = {
        renew: () => repos.leases.renew(lease, LEASE_MS),
        release: (afterMs: number) => repos.leases.release(lease, afterMs),
        renewMs: RENEW_MS,
      }
      await withLease(taken, async ({ signal, release }) => {
        try {
          await work(signal)
        } catch (error) {
          await release(RETRY_MS).catch(() => {})
          throw error
        }
        await release(INTERVAL_MS)
      })
    },

    /** Calls `pause` after each full batch. */
    async cleanUp(pause = async () => {}): Promise<{ purgedTasks: number }> {
      const before = (ageMs: number) => new Date(clock.now().getTime() - ageMs)
      const inBatches = async (workOn: (limit: number) => Promise<number>, limit = BATCH) => {
        while ((await workOn(limit)) === limit) await pause()
      }
      await repos.idempotency.deleteOlderThan(before(RESPONSES_KEPT_MS))
      await repos.credentials.sessions.deleteEnded(before(SESSION_IDLE_MS))
      const { invites, signInAttempts } = repos.within(everywhere)
      await invites.deleteExpired()
      await signInAttempts.deleteExpired()
      const { cleanup } = repos
      let purgedTasks = 0
      const trash = before(TRASH_RETENTION_MS)
      // A batch of tasks with many comments is smaller.
      for (let batch = await cleanup.purgeDeletedTasks(trash, BATCH); batch > 0; ) {
        purgedTasks += batch
        await pause()
        batch = await cleanup.purgeDeletedTasks(trash, BATCH)
      }
      await inBatches((limit) => cleanup.purgeDeletedRules(trash, limit), RULE_BATCH)
      await inBatches((limit) => cleanup.deleteUnusedNames(limit))
      await inBatches((limit) => cleanup.deleteEmptyWeeks(limit))
      const payloads = firstIdOf(before(PAYLOAD_RETENTION_MS))
      const ignored = firstIdOf(before(IGNORED_RETENTION_MS))
      await inBatches((limit) => cleanup.deleteUnusedWriteLimits(limit))
      const pending = { beforeId: payloads, errors: [NEVER_PROCESSED] }
      await inBatches((limit) => cleanup.rejectPendingDeliveries(pending, limit))
      await inBatches((limit) => cleanup.dropPayloads(payloads, limit))
      await inBatches((limit) => cleanup.deleteIgnoredDeliveries(ignored, limit))
      // Until then a replay can find them.
      const items = before(PAYLOAD_RETENTION_MS)
      await inBatches((limit) => cleanup.deleteSourceItems(items, limit))
      const finished = before(FINISHED_RETENTION_MS)
      await inBatches((limit) => cleanup.deleteFinishedDeliveries(finished, limit))
      const read = before(READ_RETENTION_MS)
      await inBatches((limit) => cleanup.deleteReadNotifications(read, limit))
      const pipes = repos.pipes(undefined)
      await inBatches(pipes.deletePastHours)
      await inBatches(pipes.deletePastPauses)
      return { purgedTasks }
    },
  }
}
