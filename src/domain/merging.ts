import {
  mergedAcrossProjects,
  mergedIntoItself,
  mergedTarget,
  mergedTask,
  taskWithReports,
} from '../errors/index.ts'
import type { TaskSource } from '../schemas/task.ts'
import { NO_CLAIM, refuseLostClaim, unclaimedStatus } from './claim.ts'
import type { ActorRef } from './new-task.ts'
import type { StoredTask } from './task.ts'

/** The columns that merging and unmerging change. */
type MergeUpdate = Pick<StoredTask, 'mergedInto' | 'status' | 'statusBeforeMerge' | 'completedAt'> &
  Partial<typeof NO_CLAIM & Pick<StoredTask, 'triaged' | 'snoozedUntil' | 'question'>>

/**
 * Decides a merge of a task into another one, of which it becomes a report. Undefined if it is one already.
 * @throws merge_conflict; claim_lost for a merge under a claim that has ended; task_claimed for one of an assistant that
 * does not name the claim.
 */
export function decideMerge(
  task: StoredTask,
  { target, claimNumber, actor, channel, now }: RequestedMerge,
): MergeUpdate | undefined {
  const { id, mergedInto } = task
  if (id === target.id) throw mergedIntoItself(id)
  const isChange = mergedInto !== target.id
  refuseLostClaim(task, { claimNumber, actor, channel, isChange })
  if (!isChange) return undefined
  if (mergedInto !== null) throw mergedTask({ id, mergedInto })
  if (target.mergedInto !== null) throw mergedTarget({ id: target.id, mergedInto: target.mergedInto })
  if (task.reportCount > 0) throw taskWithReports(id)
  if (task.projectId !== target.projectId) throw mergedAcrossProjects()
  return { ...mergedColumns(task, { into: target.id, now }), triaged: true }
}

interface RequestedMerge {
  target: StoredTask
  /** The claim under which the task is merged. */
  claimNumber?: number | undefined
  actor: Pick<ActorRef, 'type' | 'id'>
  channel: TaskSource
  now: Date
}

/** The columns of a task that is merged, which is done. */
export const mergedColumns = (task: StoredTask, { into, now }: { into: string; now: Date }): MergeUpdate => ({
  ...NO_CLAIM,
  snoozedUntil: null,
  question: null,
  mergedInto: into,
  statusBeforeMerge: unclaimedStatus(task),
  status: 'done',
  completedAt: task.completedAt ?? now,
})

/** Decides the end of a merge: the task gets the status that it would have without. Undefined if it is not merged. */
export function decideUnmerge({
  mergedInto,
  statusBeforeMerge,
  completedAt,
}: StoredTask): MergeUpdate | undefined {
  if (mergedInto === null) return undefined
  const status = statusBeforeMerge ?? 'open'
  return {
    mergedInto: null,
    statusBeforeMerge: null,
    status,
    completedAt: status === 'done' ? completedAt : null,
  }
}

/** Whether a deleted report can be restored as one: its target may have been deleted, moved or merged since. */
export const canBeReportOf = (
  { projectId }: Pick<StoredTask, 'projectId'>,
  target: StoredTask | undefined,
): boolean =>
  target !== undefined &&
  target.deletedAt === null &&
  target.mergedInto === null &&
  target.projectId === projectId
