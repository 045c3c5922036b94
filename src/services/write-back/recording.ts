import type { ChangeOutcome } from '../../domain/task-change.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskRow } from '../../repositories/tasks.ts'

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
    now,
  )
  await codehostWrites.forgetFailedStates(
    unneeded.map(({ taskId }) => taskId),
    now,
  )
  return codehostWrites.summarize(written.map(({ taskId }) => taskId))
}
