import { actorOfSource, statusAfter, type TaskSourceRef } from '../../domain/sources/tasks.ts'
import type { TaskUpdate } from '../../domain/task.ts'
import { decideChange } from '../../domain/task-change.ts'
import { AppError } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { RenderedTask } from '../../schemas/source-delivery.ts'
import { activityRow } from '../activity/row.ts'
import { recordStateWrites } from '../tasks/host-writes.ts'

interface MergedChange {
  source: TaskSourceRef
  now: Date
  /** Locked, as is the one that it is merged into. */
  report: Pick<TaskRow, 'id' | 'projectId' | 'mergedInto' | 'statusBeforeMerge' | 'version'>
  /** What items say about the report, in their order. */
  rendered: RenderedTask[]
}

/**
 * Keeps the status up to date that a merged task gets back, and reopens the task that it is merged into for one that is
 * open: the problem is there again. An issue that is closed at the code host stays closed. Returns what it wrote to the
 * merged task.
 */
export function mergedStatusWriter({ clock }: { clock: Pick<Clock, 'newId'> }) {
  return async function writeMerged(
    repos: BoundRepositories,
    { source, now, report, rendered }: MergedChange,
  ): Promise<TaskUpdate | undefined> {
    if (report.mergedInto === null) return undefined
    const before = report.statusBeforeMerge ?? 'open'
    const status = rendered.reduce(statusAfter, before)
    const isReopened = before === 'done' && status !== 'done'
    const isToTriage = isReopened && (await isTriageOn(repos, report.projectId))
    const update =
      status === before
        ? undefined
        : {
            statusBeforeMerge: status,
            ...(isToTriage && { triaged: false }),
            updatedAt: now,
            version: report.version + 1,
          }
    if (update) await repos.tasks.update(report.id, update)
    const isOpen = rendered.findLast((item) => item.status !== undefined)?.status === 'open'
    if (isOpen) await reopen(repos, { source, now, id: report.mergedInto })
    return update
  }

  async function reopen(
    repos: BoundRepositories,
    { source, now, id }: Pick<MergedChange, 'source' | 'now'> & { id: string },
  ): Promise<void> {
    const task = await repos.tasks.findForUpdate(id)
    if (task?.status !== 'done') return
    const actor = actorOfSource(source)
    const connections = await repos.codehost.connectionsOf(task.source === 'codehost' ? [task.projectId] : [])
    const arrival = { isTriageOn: await isTriageOn(repos, task.projectId) }
    const outcome = reopeningOf(() =>
      decideChange(task, {
        change: { status: 'open' },
        moveTo: undefined,
        actor,
        channel: 'webhook',
        connection: connections.get(task.projectId),
        arrival,
        now,
      }),
    )
    if (!outcome) return
    await repos.tasks.update(id, outcome.update)
    const about = { now, actor, taskId: id, projectId: task.projectId }
    await repos.activity.insert(
      outcome.activities.map((activity) => activityRow(clock, { ...about, ...activity })),
    )
    await recordStateWrites(repos, { clock, now, changes: [{ task, outcome }] })
  }
}

async function isTriageOn({ projects }: BoundRepositories, projectId: string): Promise<boolean> {
  return (await projects.listWithTriage([projectId])).has(projectId)
}

function reopeningOf<T>(decide: () => T): T | undefined {
  try {
    return decide()
  } catch (error) {
    if (error instanceof AppError && error.code === 'closed_at_codehost') return undefined
    throw error
  }
}
