import type { ItemTask, SourceReading } from '../../domain/sources/reading.ts'
import { dedupKeyOf } from '../../domain/sources/repeats.ts'
import { actorOfSource, changeOfTask, type TaskSourceRef } from '../../domain/sources/tasks.ts'
import { decideChange, longTextsOf } from '../../domain/task-change.ts'
import { conflict, deliveryNotFound, deliveryNotReplayable, deliveryPending } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DeliveryRow, SourceDeliveryRow } from '../../repositories/deliveries/store.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { Caller } from '../access.ts'
import { activityRow } from '../activity/row.ts'
import { retryDecision } from '../retry-decision.ts'
import { lockTasks } from '../tasks/locks.ts'
import { writableProject } from '../writable-project.ts'
import { definitionOf } from './definition.ts'
import { destinationOf, omittedRow, outcomeWith, storedTasksIn } from './delivery.ts'
import { findSource, requireReachOf } from './index.ts'
import { mergedStatusWriter } from './merged.ts'
import type { PayloadReader } from './reader.ts'
import { errorsOf } from './receiving.ts'
import { type JudgedItem, judgeItems, rememberItems, resultIn } from './repeats.ts'
import {
  externalIdsIn,
  type LockedProjects,
  lockProjects,
  type StoredItem,
  sourceTaskWriter,
} from './tasks.ts'

/**
 * Reads a stored payload again with the templates as they are now. A delivery without tasks is processed as new; the tasks
 * of an accepted one are changed.
 */
export function sourceReplay({
  repos,
  clock,
  reader,
}: {
  repos: Repositories
  clock: Clock
  reader: Pick<PayloadReader, 'read'>
}) {
  const writeTasks = sourceTaskWriter({ clock })
  const changeTasks = sourceTaskReplay({ clock })

  /** @throws insufficient_scope, source_not_found, delivery_not_found, delivery_not_replayable, project_archived */
  return async function replay(caller: Caller, { id }: Pick<DeliveryRow, 'id'>): Promise<void> {
    const bound = repos.within(caller)
    return redacted(() =>
      retryDecision(async () => {
        const seen = await bound.deliveries.find(id)
        if (!seen?.sourceId) throw deliveryNotFound(id)
        const source = await findSource(bound, seen.sourceId)
        requireReachOf(caller, source)
        if (seen.outcome === 'pending') throw deliveryPending(id)
        const bytes = storedBytes(seen)
        if (source.mapping === 'feedback') throw deliveryNotReplayable(id)
        const reading = await reader.read({ definition: definitionOf(source), bytes }, source.id)
        // The tasks of a source may have been moved to other projects.
        return repos.within(everywhere).transaction(async (repos) => {
          const items = reading.outcome === 'accepted' ? reading.tasks : []
          const projects = await lockProjects(repos, {
            projectIds: [source.projectId],
            items: externalIdsIn(source.id, items),
          })
          await writableProject(repos, { id: source.projectId })
          // Before the delivery, as deliveries do.
          const judged = await judgeItems(repos, {
            deliveries: [{ row: { ...seen, sourceId: source.id }, tasks: items }],
            sentAt: seen.receivedAt,
            isReplay: true,
          })
          const row = await repos.deliveries.findForUpdate(id)
          if (row?.outcome !== seen.outcome) throw conflict()
          const change = await replayed(repos, {
            source,
            row: { ...row, sourceId: source.id },
            reading,
            projects,
            items: judged.get(id) ?? [],
          })
          if (!(await repos.deliveries.update(id, change))) throw conflict()
        })
      }),
    )
  }

  async function replayed(
    repos: BoundRepositories,
    { source, row, reading, projects, items }: Replayed,
  ): Promise<Partial<SourceDeliveryRow>> {
    const errors = errorsOf(reading)
    if (reading.outcome !== 'accepted') {
      // What has tasks keeps them.
      if (storedTasksIn(row).length > 0) return { errors }
      return { errors, outcome: reading.outcome === 'filtered' ? 'filtered' : 'rejected' }
    }
    const dedupKey = row.dedupKey ?? dedupKeyOf(row)
    const [repeat] = dedupKey === null ? [] : await repos.deliveries.listByKeys([dedupKey])
    if (repeat && repeat.id !== row.id) {
      // Its sender has sent it again since, and that delivery was accepted.
      const { tasks, projectId, listId } = repeat
      return { outcome: outcomeWith(storedTasksIn(repeat)), tasks, projectId, listId, errors }
    }
    const now = clock.now()
    const known = new Map(storedTasksIn(row).map((task) => [task.item, task]))
    await changeTasks(repos, { source, now, items: reading.tasks, known: [...known.values()] })
    const destination = await destinationOf(repos, source)
    const isFresh = ({ item, isNew }: JudgedItem) => isNew && !known.has(item.index)
    const made = await writeTasks(repos, {
      projects,
      items: items.filter(isFresh).map(({ item }) => ({ source, destination, rendered: item.task, now })),
    })
    for (const judged of items) {
      const { item, isNew, latest } = judged
      const result = isFresh(judged) ? made.shift() : undefined
      const task = result && resultIn(latest, result)
      const taskId = known.get(item.index)?.taskId ?? (isNew ? task?.taskId : latest.taskId)
      if (isNew) latest.taskId = taskId ?? null
      if (taskId && !known.has(item.index))
        known.set(item.index, { taskId, created: task?.created ?? false, item: item.index })
    }
    await rememberItems(repos, {
      judged: [{ sourceId: source.id, items }],
      sentAt: row.receivedAt,
    })
    const tasks = [...known.values()].toSorted((a, b) => a.item - b.item)
    const omitted = items.filter(({ latest }) => latest.taskId === null)
    const left = omittedRow({ ...row, errors }, { tasks, omitted })
    if (tasks.length === 0) return left
    const { listId, projectId } = destination
    return { outcome: outcomeWith(tasks), dedupKey, tasks, projectId, listId, errors: left.errors }
  }
}

interface Replayed {
  source: SourceRow
  row: SourceDeliveryRow
  reading: SourceReading
  projects: LockedProjects
  items: JudgedItem[]
}

/**
 * Changes the tasks that a delivery has already. Those whose item makes no task any more, that were deleted, or that are in
 * an archived project, stay.
 */
function sourceTaskReplay({ clock }: { clock: Pick<Clock, 'newId'> }) {
  const writeMerged = mergedStatusWriter({ clock })

  return async function changeTasks(
    repos: BoundRepositories,
    { source, now, items, known }: ChangedTasks,
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
        channel: 'webhook',
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

interface ChangedTasks {
  source: TaskSourceRef
  now: Date
  items: ItemTask[]
  /** The tasks that the delivery has already. */
  known: StoredItem[]
}

/** @throws delivery_not_replayable */
export function storedBytes({
  id,
  payload,
  payloadCut,
}: Pick<DeliveryRow, 'id' | 'payload' | 'payloadCut'>): Buffer {
  if (payload === null || payloadCut) throw deliveryNotReplayable(id)
  return Buffer.from(payload)
}
