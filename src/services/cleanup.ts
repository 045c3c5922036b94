import { firstIdOf } from '../domain/id-time.ts'
import { TRASH_RETENTION_MS } from '../domain/trash.ts'
import type { Clock } from '../lib/clock.ts'
import type { Repositories } from '../repositories/index.ts'
import { SESSION_IDLE_MS } from './access.ts'
import { RESPONSES_KEPT_MS } from './idempotency.ts'

const DAY_MS = 86_400_000
/** Of feedback, and of deliveries of the code host. */
const PAYLOAD_RETENTION_MS = 30 * DAY_MS
const IGNORED_RETENTION_MS = 7 * DAY_MS
/** About 50 ms: the longest that restoring one of the tasks, or archiving its project, waits. */
const BATCH = 200
/** Each rule is deleted with all its versions. */
const RULE_BATCH = 100

/** Deletes what is past its retention. Safe to run concurrently and to be killed at any point. */
export function cleanupService({ repos, clock }: { repos: Repositories; clock: Pick<Clock, 'now'> }) {
  return {
    async cleanUp(): Promise<{ purgedTasks: number }> {
      const before = (ageMs: number) => new Date(clock.now().getTime() - ageMs)
      await repos.idempotency.deleteOlderThan(before(RESPONSES_KEPT_MS))
      await repos.credentials.sessions.deleteSeenBefore(before(SESSION_IDLE_MS))
      let purgedTasks = 0
      // A batch of tasks with many comments is smaller.
      for (let batch = BATCH; batch > 0; purgedTasks += batch) {
        batch = await repos.cleanup.purgeDeletedTasks(before(TRASH_RETENTION_MS), BATCH)
      }
      const { cleanup } = repos
      while ((await cleanup.purgeDeletedRules(before(TRASH_RETENTION_MS), RULE_BATCH)) === RULE_BATCH);
      while ((await cleanup.deleteUnusedNames(BATCH)) === BATCH);
      const payloads = firstIdOf(before(PAYLOAD_RETENTION_MS))
      while ((await cleanup.dropFeedbackPayloads(payloads, BATCH)) === BATCH);
      const ignored = firstIdOf(before(IGNORED_RETENTION_MS))
      while ((await cleanup.deleteIgnoredFeedback(ignored, BATCH)) === BATCH);
      while ((await cleanup.dropDeliveryPayloads(payloads, BATCH)) === BATCH);
      while ((await cleanup.deleteDroppedDeliveries(ignored, BATCH)) === BATCH);
      return { purgedTasks }
    },
  }
}
