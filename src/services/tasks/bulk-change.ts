import {
  type BulkRefusal,
  decideBulkChange,
  groupedByColumns,
  refusedTogether,
} from '../../domain/bulk-change.ts'
import { decideChange } from '../../domain/task-change.ts'
import { externalIdTaken, listNotFound, projectArchived } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { TaskChange, WrittenTask } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import { lockTasks, writableTask } from './locks.ts'
import { toTask, writtenFor } from './view.ts'

export interface BulkChanged {
  /** In the order of the request; duplicate ids count once. */
  tasks: WrittenTask[]
  /** How many did not change. */
  unchanged: number
}

/** Applies one change to many tasks: to all or none. */
export function bulkChangesOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  /** @throws the error of the first task that cannot be changed; `errors` names all of them, and the list. */
  return async function updateMany(
    caller: Caller,
    { ids: requestedIds, change }: { ids: string[]; change: TaskChange },
  ): Promise<BulkChanged> {
    const ids = requestedIds.map((id) => id.toLowerCase())
    const unique = [...new Set(ids)]
    return repos.within(caller).transaction(async (repos) => {
      const locked = await lockTasks(repos, { ids: unique, listId: change.listId })
      const destination = await destinationOf(repos, change.listId)
      const present = unique.flatMap((id) => locked.tasks.get(id) ?? [])
      const isTaken = await externalIdsTaken(repos, { tasks: present, moveTo: destination.moveTo })
      const now = clock.now()
      const { changes, refusals } = decideBulkChange(ids, (id) => {
        const task = writableTask(locked, id)
        const { moveTo } = destination
        const outcome = decideChange(task, { change, moveTo, actorType: caller.type, now })
        if (isTaken(task)) throw externalIdTaken()
        return { task, outcome }
      })
      const [first, ...others] = [...destination.refusals, ...refusals]
      if (first) throw refusedTogether([first, ...others])

      for (const group of groupedByColumns(changes)) await repos.tasks.updateMany(group.ids, group.update)
      const after = new Map(changes.map(({ task, outcome }) => [task.id, { ...task, ...outcome.update }]))
      await repos.activity.insert(
        changes.flatMap(({ task, outcome }) => {
          const about = { taskId: task.id, projectId: after.get(task.id)?.projectId ?? task.projectId }
          return outcome.activities.map(({ type, metadata }) =>
            activityRow(clock, { now, type, actor: actorOf(caller), ...about, metadata }),
          )
        }),
      )
      const tasks = present.map((task) => writtenFor(caller, toTask(after.get(task.id) ?? task)))
      return { tasks, unchanged: tasks.length - changes.length }
    })
  }
}

/** The list that the tasks move to, or the error that prevents it. */
async function destinationOf(
  repos: BoundRepositories,
  listId: string | undefined,
): Promise<{ moveTo?: DestinationRow; refusals: BulkRefusal[] }> {
  if (listId === undefined) return { refusals: [] }
  const moveTo = await repos.lists.findDestination(listId)
  const refused = !moveTo
    ? listNotFound(listId)
    : moveTo.isArchived
      ? projectArchived(moveTo.projectName)
      : undefined
  if (refused) return { refusals: [{ path: '/change/listId', error: refused }] }
  return { ...(moveTo && { moveTo }), refusals: [] }
}

/** Which tasks have an externalId that the new project already has, or that another of these tasks brings there. */
async function externalIdsTaken(
  repos: BoundRepositories,
  { tasks, moveTo }: { tasks: TaskRow[]; moveTo: DestinationRow | undefined },
): Promise<(task: TaskRow) => boolean> {
  const moving = tasks.filter(
    ({ projectId, externalId }) => moveTo && projectId !== moveTo.projectId && externalId !== null,
  )
  const taken = new Set<string>()
  for (const [source, group] of Map.groupBy(moving, (task) => task.source)) {
    const externalIds = group.flatMap(({ externalId }) => externalId ?? [])
    const existing = await repos.tasks.listByExternalIds(moveTo?.projectId ?? '', {
      source,
      ids: externalIds,
    })
    for (const { externalId } of existing) taken.add(`${source} ${externalId}`)
  }
  const taskByKey = new Map(moving.toReversed().map((task) => [keyOf(task), task.id]))
  return (task) => moving.includes(task) && (taken.has(keyOf(task)) || taskByKey.get(keyOf(task)) !== task.id)
}

const keyOf = ({ source, externalId }: TaskRow) => `${source} ${externalId}`
