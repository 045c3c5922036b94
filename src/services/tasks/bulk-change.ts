import {
  type BulkRefusal,
  decideBulkChange,
  groupedByColumns,
  refusedTogether,
} from '../../domain/bulk-change.ts'
import { decideChange, longTextsOf, refuseLoneReason } from '../../domain/task-change.ts'
import { refusePastSnooze } from '../../domain/triage.ts'
import { externalIdTaken, listNotFound, projectArchived } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { WrittenTaskSummary } from '../../schemas/task.ts'
import type { TaskChange } from '../../schemas/task-requests.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import { blockedAmong, namesBlockers, refusedBlockersOf, requireNoCycle } from './blockers.ts'
import { recordStateWrites } from './host-writes.ts'
import { lockTasks, writableTask } from './locks.ts'
import { questionIn } from './question.ts'
import { summaryOf, toTask, writtenFor } from './view.ts'

export interface BulkChanged {
  /** In the order of the request; duplicate ids count once. */
  tasks: WrittenTaskSummary[]
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
    refuseLoneReason(change, '/change/closedReason')
    refusePastSnooze(change, { now: clock.now(), path: '/change/snoozedUntil' })
    const ids = requestedIds.map((id) => id.toLowerCase())
    const unique = [...new Set(ids)]
    return repos.within(caller).transaction(async (repos) => {
      const locked = await lockTasks(repos, {
        ids: unique,
        listId: change.listId,
        addsBlockers: namesBlockers(change),
        texts: longTextsOf(change),
      })
      const destination = await destinationOf(repos, change.listId)
      const present = unique.flatMap((id) => locked.tasks.get(id) ?? [])
      const isTaken = await externalIdsTaken(repos, { tasks: present, moveTo: destination.moveTo })
      const now = clock.now()
      const { moveTo } = destination
      const asked = await questionIn(repos, change)
      const { changes, refusals } = decideBulkChange(ids, (id) => {
        const task = writableTask(locked, id)
        const connection = locked.connections.get(task.projectId)
        const { channel } = caller
        const requested = { change, moveTo, asked, actor: actorOf(caller), channel, connection, now }
        const outcome = decideChange(task, requested)
        if (isTaken(task)) throw externalIdTaken()
        return { task, outcome }
      })
      const blockers = await refusedBlockersOf(repos, { tasks: present, change, moveTo })
      const [first, ...others] = [...destination.refusals, ...blockers, ...refusals]
      if (first) throw refusedTogether([first, ...others])

      for (const group of groupedByColumns(changes)) await repos.tasks.updateMany(group.ids, group.update)
      const changed = changes.map(({ task, outcome }) => ({ id: task.id, ...outcome.update }))
      await requireNoCycle(repos, { changed, path: '/change/blockedBy' })
      const writeBack = await recordStateWrites(repos, { clock, now, changes })
      const after = new Map(
        changes.map(({ task, outcome }) => [
          task.id,
          { ...task, ...outcome.update, ...writeBack.get(task.id) },
        ]),
      )
      await repos.activity.insert(
        changes.flatMap(({ task, outcome }) => {
          const about = { taskId: task.id, projectId: after.get(task.id)?.projectId ?? task.projectId }
          return outcome.activities.map(({ type, metadata }) =>
            activityRow(clock, { now, type, actor: actorOf(caller), ...about, metadata }),
          )
        }),
      )
      const rows = present.map((task) => ({ ...task, ...after.get(task.id) }))
      const blocked = await blockedAmong(repos, rows)
      const taskOf = (row: TaskRow) => writtenFor(caller, toTask(row, { isBlocked: blocked.has(row.id) }))
      return { tasks: rows.map((row) => summaryOf(taskOf(row))), unchanged: rows.length - changes.length }
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
  for (const group of Map.groupBy(moving, originOf).values()) {
    const externalIds = group.flatMap(({ externalId }) => externalId ?? [])
    const { source = 'api', sourceId = null } = group[0] ?? {}
    const existing = await repos.tasks.listByExternalIds(moveTo?.projectId ?? '', {
      source,
      sourceId,
      ids: externalIds,
      texts: [],
    })
    for (const task of existing) taken.add(keyOf(task))
  }
  const taskByKey = new Map(moving.toReversed().map((task) => [keyOf(task), task.id]))
  return (task) => moving.includes(task) && (taken.has(keyOf(task)) || taskByKey.get(keyOf(task)) !== task.id)
}

const originOf = ({ source, sourceId }: TaskRow) => sourceId ?? source

const keyOf = (task: TaskRow) => `${originOf(task)} ${task.externalId}`
