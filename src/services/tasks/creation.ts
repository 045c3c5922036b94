import type { ChangeOf } from '../../domain/existing-task.ts'
import { byExternalId, newTask, originIn } from '../../domain/new-task.ts'
import { longTextsOf } from '../../domain/task-change.ts'
import { listNotFound, projectArchived } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { slicesBySize } from '../../lib/slices-by-size.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { WrittenTask } from '../../schemas/task.ts'
import type { NewTaskInBulk } from '../../schemas/task-requests.ts'
import type { Caller } from '../access.ts'
import { actorOf } from '../activity/row.ts'
import { defaultProjectOf } from '../place.ts'
import { blockedAmong, namesBlockers, requireNoCycle } from './blockers.ts'
import { type ExistingTask, existingTasksOf } from './existing.ts'
import { lengthOf, MAX_STATEMENT_LENGTH } from './statement-size.ts'
import { toTask, writtenFor } from './view.ts'

/** A requested task: created now, or found by its externalId. */
export interface CreatedTask {
  /** One that existed has its long texts only if it is the only one. */
  task: WrittenTask
  isNew: boolean
  /** Whether the request changed an existing task. */
  isUpdated: boolean
}

export interface Creation {
  /** Where new tasks are created; existing ones are found in its project. */
  listId: string | undefined
  inputs: NewTaskInBulk[]
  /** What an input changes of an existing task. If omitted, existing tasks are returned unchanged. */
  changeOf?: ChangeOf | undefined
}

/** Creates tasks, or finds existing ones by externalId, and updates them if that is requested. */
export function creationOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const updateExisting = existingTasksOf({ clock })

  /**
   * Creates all or none, in the order of the inputs, whose blockers were checked.
   * @throws validation_failed, list_not_found, project_archived, description_read_only, dependency_cycle
   */
  return async function createMany(caller: Caller, { listId, ...creation }: Creation) {
    // The list can only be omitted where it is clear which project is meant.
    if (listId === undefined) defaultProjectOf(caller, '/listId')
    const bound = repos.within(caller)
    const work = async (repos: BoundRepositories) => {
      const destination = await writableDestination(repos, listId)
      // A new task can't be part of a cycle, because no other names it.
      if (creation.changeOf && creation.inputs.some(namesBlockers))
        await repos.taskDependencies.lock([destination.projectId])
      return insertOrFind(repos, { destination, caller, ...creation })
    }
    // One statement needs no transaction: two round trips instead of four.
    return isOneStatement(creation) ? work(bound) : bound.transaction(work)
  }

  async function insertOrFind(
    repos: BoundRepositories,
    {
      destination,
      inputs,
      changeOf,
      caller,
    }: Omit<Creation, 'listId'> & { destination: DestinationRow; caller: Caller },
  ): Promise<CreatedTask[]> {
    const now = clock.now()
    const actor = actorOf(caller)
    const origin = originIn(caller.channel)
    const creation = { now, destination, actor, origin }
    const rows = inputs.map((input) => newTask(input, { id: clock.newId(now), ...creation }))
    const inputOf = new Map(rows.map(({ id }, index) => [id, inputs[index] as NewTaskInBulk]))
    const made = new Map<string, CreatedTask>()
    const inLockOrder = rows.toSorted(byExternalId)
    // An existing task may be deleted before it is read; then its external id is free again.
    for (let missing = inLockOrder; missing.length > 0; missing = missing.filter(({ id }) => !made.has(id))) {
      const ids = new Set<string>()
      // Building a statement blocks the event loop, so its size is limited.
      for (const slice of slicesBySize<TaskRow>(missing, {
        maxSize: MAX_STATEMENT_LENGTH,
        sizeOf: lengthOf,
      })) {
        const newTasks = slice.map((row) => ({ row, activityId: clock.newId(now) }))
        const { missing: left, isOpen } = await repos.newTasks.insert(newTasks)
        if (!isOpen) {
          await writableDestination(repos, destination.listId)
          throw projectArchived(destination.projectName)
        }
        for (const { id } of slice) if (!left.has(id)) ids.add(id)
      }
      const inserted = missing.filter(({ id }) => ids.has(id))
      const present = missing.filter(({ id }) => !ids.has(id))
      const existing = changeOf
        ? await updateExisting(repos, {
            destination,
            actor,
            origin,
            changes: present.map(({ id, externalId }) => ({
              id,
              externalId,
              changeOf: (task) => changeOf(task, inputOf.get(id) as NewTaskInBulk),
              texts: longTextsOf(inputOf.get(id) ?? {}),
            })),
          })
        : await findExisting(repos, { destination, caller, rows: present })
      const hasBlockers = (id: string) => namesBlockers(inputOf.get(id) ?? {})
      const changed = existing.filter(({ updatedBy }) => [...updatedBy].some(hasBlockers))
      await requireNoCycle(repos, { changed: changed.map(({ row }) => row) })
      const blocked = await blockedAmong(repos, [...inserted, ...existing.map(({ row }) => row)])
      const taskOf = (row: TaskRow) => writtenFor(caller, toTask(row, { isBlocked: blocked.has(row.id) }))
      for (const row of inserted) made.set(row.id, { task: taskOf(row), isNew: true, isUpdated: false })
      for (const { row, requestIds, updatedBy } of existing) {
        const task = taskOf(row)
        for (const id of requestIds) made.set(id, { task, isNew: false, isUpdated: updatedBy.has(id) })
        // Created by an earlier item of the same request.
        const earlier = made.get(task.id)
        if (earlier) made.set(task.id, { ...earlier, task })
      }
    }
    return rows.map(({ id }) => made.get(id) as CreatedTask)
  }

  async function findExisting(
    repos: BoundRepositories,
    { destination, caller, rows }: { destination: DestinationRow; caller: Caller; rows: TaskRow[] },
  ): Promise<ExistingTask[]> {
    const byId = Map.groupBy(
      rows.filter(({ externalId }) => externalId !== null),
      ({ externalId }) => externalId,
    )
    if (byId.size === 0) return []
    const found = await repos.tasks.listByExternalIds(destination.projectId, {
      source: caller.channel,
      ids: [...byId.keys()].flatMap((externalId) => externalId ?? []),
      texts: rows.length === 1 ? undefined : [],
    })
    return found.map((row) => ({
      row,
      requestIds: byId.get(row.externalId)?.map(({ id }) => id) ?? [],
      updatedBy: new Set(),
    }))
  }
}

/** Whether all are created by one statement, or none: no task can exist already, and a slice has room for all. */
function isOneStatement({ inputs, changeOf }: Omit<Creation, 'listId'>): boolean {
  if (inputs.length === 1 && !changeOf) return true
  if (inputs.some(({ externalId }) => typeof externalId === 'string')) return false
  return inputs.reduce((length, input) => length + lengthOf(input), 0) <= MAX_STATEMENT_LENGTH
}

/** @throws list_not_found, project_archived */
export async function writableDestination(
  repos: BoundRepositories,
  listId: string | undefined,
): Promise<DestinationRow> {
  const destination = await repos.lists.findDestination(listId)
  if (!destination) throw listNotFound(listId ?? '(default)')
  if (destination.isArchived) throw projectArchived(destination.projectName)
  return destination
}
