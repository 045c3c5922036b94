import { writesComments } from '../../domain/codehost/write-back.ts'
import type { ChangeOutcome } from '../../domain/task-change.ts'
import type { Clock } from '../../lib/clock.ts'
import type { CommentRow } from '../../repositories/comments.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { LockedTasks } from './locks.ts'

interface StateChanges {
  clock: Pick<Clock, 'newId'>
  now: Date
  changes: { task: Pick<TaskRow, 'id'>; outcome: Pick<ChangeOutcome, 'stateWrite'> }[]
}

/** Records which changed states have to be written, in the transaction of the change; returns what the tasks show of it. */
export async function recordStateWrites(
  { codehostWrites }: Pick<BoundRepositories, 'codehostWrites'>,
  { clock, now, changes }: StateChanges,
): Promise<Map<string, Pick<TaskRow, 'writeBack'>>> {
  const written = changes.flatMap(({ task: { id }, outcome: { stateWrite } }) =>
    stateWrite ? [{ taskId: id, ...stateWrite }] : [],
  )
  if (written.length === 0) return new Map()
  const { needed = [], unneeded = [] } = Object.groupBy(written, ({ isNeeded }) =>
    isNeeded ? 'needed' : 'unneeded',
  )
  await codehostWrites.add(
    needed.map(({ taskId, connection }) => ({
      id: clock.newId(now),
      connectionId: connection.id,
      taskId,
      kind: 'state' as const,
      commentId: null,
    })),
  )
  await codehostWrites.resumeStates(unneeded.map(({ taskId }) => taskId))
  return codehostWrites.summarize(written.map(({ taskId }) => taskId))
}

interface CommentChange {
  clock: Pick<Clock, 'newId'>
  now: Date
  change: 'created' | 'updated' | 'deleted'
  comment: CommentRow
  task: TaskRow
  locked: Pick<LockedTasks, 'connections'>
}

/**
 * Records that a changed comment has to be written, in the transaction of the change. Of one that was not public when it
 * was created, or before write-back was on, nothing is.
 */
export async function recordComment(
  { codehostWrites }: Pick<BoundRepositories, 'codehostWrites'>,
  { clock, now, change, comment, task, locked }: CommentChange,
): Promise<void> {
  const connection = locked.connections.get(task.projectId)
  if (!comment.isPublic || comment.authorType === 'codehost' || !writesComments(task, connection)) return
  const subject = { taskId: task.id, commentId: comment.id }
  const isNew = change === 'created'
  if (!isNew && comment.externalId === null && !(await codehostWrites.has(subject))) return
  const write = { id: clock.newId(now), connectionId: connection.id, ...subject }
  if (change === 'deleted') {
    const { externalId } = comment
    await codehostWrites.addDeletion({ ...write, kind: 'comment_deleted', externalId })
  } else await codehostWrites.add([{ ...write, kind: `comment_${change}` }])
  await codehostWrites.summarize([task.id])
}
