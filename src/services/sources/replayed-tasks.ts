import type { ItemTask } from '../../domain/sources/reading.ts'
import { actorOfSource, changeOfTask, type TaskSourceRef } from '../../domain/sources/tasks.ts'
import { decideChange, longTextsOf } from '../../domain/task-change.ts'
import { conflict } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { activityRow } from '../activity/row.ts'
import { lockTasks } from '../tasks/locks.ts'
import { mergedStatusWriter } from './merged.ts'
import type { StoredItem } from './tasks.ts'

interface Replay {
  source: TaskSourceRef
  now: Date
  items: ItemTask[]
  /** The tasks that the delivery has already. */
  known: StoredItem[]
}

/**
 * Changes the tasks that a delivery has already. Those whose item makes no task any more, that were deleted, or that are in
 * an archived project, stay.
 */
export function sourceTaskReplay({ clock }: { clock: Pick<Clock, 'newId'> }) {
  const writeMerged = mergedStatusWriter({ clock })

  return async function changeTasks(
    repos: BoundRepositories,
    { source, now, items, known }: Replay,
  ): Promise<void> {
    if (known.length === 0) return
    const taskIds = known.map(({ taskId }) => taskId)
    const targets = await repos.tasks.listTargets(taskIds)
    const texts = items.flatMap(({ task }) => longTextsOf(task))
    const locked = await lockTasks(repos, { ids: [...taskIds, ...targets], texts })
    const actor = actorOfSource(source)
    const renderedAt = new Map(items.map(({ index, task }) => [index, task]))
    for (const { item, taskId } of known) {
      const rendered = renderedAt.get(item)
      const task = locked.tasks.get(taskId)
      if (!rendered || !task || locked.projects.get(task.projectId)?.archivedAt) continue
      const { mergedInto } = task
      if (mergedInto !== null && !targets.includes(mergedInto)) throw conflict()
      const change = changeOfTask(task, rendered)
      const outcome = decideChange(task, {
        change,
        moveTo: undefined,
        actor,
        connection: undefined,
        now,
      })
      const changed = { ...task, ...outcome?.update }
      if (outcome) {
        await repos.tasks.update(taskId, outcome.update)
        const about = { now, actor, taskId, projectId: task.projectId }
        await repos.activity.insert(
          outcome.activities.map((activity) => activityRow(clock, { ...about, ...activity })),
        )
      }
      const update = await writeMerged(repos, { source, now, report: changed, rendered: [rendered] })
      // Two items may have the same task.
      locked.tasks.set(taskId, { ...changed, ...update })
    }
  }
}
