import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskToWake } from '../../repositories/tasks.ts'
import { activityRow, SERVICE } from '../activity/row.ts'

/** Woken by one transaction, which locks them: about 10 ms. */
const BATCH = 100

/**
 * Ends the snoozes that are over: the tasks are to be triaged again, and that is logged. Of a task that is deleted nobody
 * has to hear before it is restored. Returns whether there may be more.
 */
export async function wakeSome(
  { tasks, activity }: BoundRepositories,
  { clock }: { clock: Clock },
): Promise<boolean> {
  const over = await tasks.listToWake(BATCH)
  if (over.length === 0) return false
  const now = clock.now()
  await tasks.updateMany(
    over.map(({ id }) => id),
    { snoozedUntil: null, triaged: false, updatedAt: now },
  )
  await activity.insert(
    over.filter(isOpen).map(({ id: taskId, projectId, snoozedUntil }) => {
      const metadata = { snoozedUntil: snoozedUntil?.toISOString() }
      return activityRow(clock, { now, type: 'task.woken', actor: SERVICE, taskId, projectId, metadata })
    }),
  )
  return over.length === BATCH
}

const isOpen = ({ status, deletedAt }: TaskToWake) => status !== 'done' && deletedAt === null
