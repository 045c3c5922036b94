import { canBeReportOf } from '../../domain/merging.ts'
import type { ActorRef } from '../../domain/new-task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import { activityRow } from '../activity/row.ts'
import { type LockedTasks, lockTasks } from './locks.ts'

/** A task to be changed, and the one that it is merged into, both locked. */
export interface LockedReport {
  locked: LockedTasks
  target: TaskRow | undefined
}

/**
 * Locks a task together with the one that it is merged into, in the order in which tasks are locked everywhere. Which one
 * that is has to be read before: if it has changed since, the transaction ends without a write and another begins.
 */
export async function withTarget<T>(
  bound: ReturnType<Repositories['within']>,
  {
    id: requestedId,
    hidden = false,
    work,
  }: { id: string; hidden?: boolean; work(repos: BoundRepositories, report: LockedReport): Promise<T> },
): Promise<T> {
  const id = requestedId.toLowerCase()
  for (;;) {
    const into = await bound.tasks.findTarget(id)
    const done = await bound.transaction(async (repos) => {
      const locked = await lockTasks(repos, { ids: into ? [id, into] : [id], hidden })
      const task = locked.tasks.get(id)
      if (task && task.mergedInto !== (into ?? null)) return undefined
      return { result: await work(repos, { locked, target: into ? locked.tasks.get(into) : undefined }) }
    })
    if (done) return done.result
  }
}

/** The target of a deleted report, if it can be its report again. */
export const restorableTarget = (task: TaskRow, target: TaskRow | undefined): TaskRow | undefined =>
  task.mergedInto !== null && canBeReportOf(task, target) ? target : undefined

interface CountedReport {
  clock: Pick<Clock, 'newId'>
  target: TaskRow
  report: TaskRow
  difference: 1 | -1
  actor: ActorRef
  now: Date
}

/** Counts one report more or less of a locked task, and logs it there. */
export async function countReport(
  repos: BoundRepositories,
  { clock, target, report, difference, actor, now }: CountedReport,
): Promise<void> {
  const reportCount = await repos.tasks.addReports(target.id, difference)
  const type = difference === 1 ? 'task.report_added' : 'task.report_removed'
  const metadata = { reportId: report.id, reports: reportCount + 1 }
  const about = { taskId: target.id, projectId: target.projectId, metadata }
  await repos.activity.insert([activityRow(clock, { now, type, actor, ...about })])
}
