import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskToWake } from '../../repositories/tasks.ts'
import { activityRow, SERVICE } from '../activity/row.ts'

/** Woken by one transaction, which locks them: about 10 ms. */
const BATCH = 100

/**
 * Ends the snoozes that are over: where triage is on, the tasks are to be triaged again. That is logged; of a task that is
 * deleted nobody has to hear before it is restored. Returns whether there may be more.
 */
export async function wakeSome(
  { tasks, activity, projects }: BoundRepositories,
  { clock }: { clock: Clock },
): Promise<boolean> {
  const over = await tasks.listToWake(BATCH)
  if (over.length === 0) return false
  const now = clock.now()
  const withTriage = await projects.listWithTriage([...new Set(over.map(({ projectId }) => projectId))])
  for (const [isTriageOn, group] of Map.groupBy(over, ({ projectId }) => withTriage.has(projectId)))
    await tasks.updateMany(
      group.map(({ id }) => id),
      { snoozedUntil: null, ...(isTriageOn && { triaged: false }), updatedAt: now },
    )
  await activity.insert(
    over.filter(isOpen).map(({ id: taskId, projectId, snoozedUntil, ...task }) => {
      const triaged = task.triaged && !withTriage.has(projectId)
      const metadata = { snoozedUntil: snoozedUntil?.toISOString(), triaged }
      return activityRow(clock, { now, type: 'task.woken', actor: SERVICE, taskId, projectId, metadata })
    }),
  )
  return over.length === BATCH
}

const isOpen = ({ status, deletedAt }: TaskToWake) => status !== 'done' && deletedAt === null
