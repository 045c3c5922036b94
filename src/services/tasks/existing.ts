import type { ActorRef, TaskOrigin } from '../../domain/new-task.ts'
import type { Destination, StoredTask } from '../../domain/task.ts'
import { type Arrival, decideChange } from '../../domain/task-change.ts'
import { arrivesIn } from '../../domain/triage.ts'
import { listNotFound } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { slicesBySize } from '../../lib/slices-by-size.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { DecidedChange } from '../../repositories/task-changes.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { TaskChange } from '../../schemas/task-requests.ts'
import { activityRow } from '../activity/row.ts'
import { lengthOf, MAX_STATEMENT_LENGTH } from './statement-size.ts'

/** What a request changes of the task with this externalId. */
interface ExistingChange {
  id: string
  externalId: string | null
  changeOf(task: StoredTask): TaskChange
  /** The long texts that it writes. */
  texts: string[]
}

/** A task that existed, as it is afterwards. */
export interface ExistingTask {
  /** Of one that is changed alone, whole; of several, without long texts. */
  row: TaskRow
  /** The requests that name it. */
  requestIds: string[]
  /** Those of them that changed it. */
  updatedBy: Set<string>
}

interface ExistingChanges {
  /** Where a change that has a list moves the task. */
  destination: Destination
  actor: ActorRef
  /** Where the tasks were created from: externalIds are unique within it. */
  origin: TaskOrigin
  changes: ExistingChange[]
}

interface RequestedChanges {
  requested: ExistingChange[]
  destination: Destination
  actor: ActorRef
  channel: TaskOrigin['source']
  arrival: Arrival | undefined
  now: Date
}

/** Updates tasks that are found by externalId. */
export function existingTasksOf({ clock }: { clock: Clock }) {
  /**
   * Locks the tasks until the transaction ends. Several changes of a task are made in their order, and written as one.
   * A change whose task does not exist any more has no result.
   * @throws list_not_found, and the errors of `decideChange`
   */
  return async function updateExisting(
    { tasks, taskChanges, projects }: BoundRepositories,
    { destination, actor, origin, changes }: ExistingChanges,
  ): Promise<ExistingTask[]> {
    if (changes.length === 0) return []
    const now = clock.now()
    const byExternalId = Map.groupBy(changes, ({ externalId }) => externalId ?? '')
    // The external ID of a source is its own, wherever the task was moved.
    const projectId = origin.sourceId ? null : destination.projectId
    const rows = await tasks.listByExternalIds(projectId, {
      ...origin,
      ids: [...byExternalId.keys()],
      isLocked: true,
      texts: changes.length === 1 ? undefined : changes.flatMap(({ texts }) => texts),
    })
    // Of several changes of a task, one may complete it, and the next one reopen it.
    const reopenable = changes.length > rows.length ? rows : rows.filter(({ status }) => status === 'done')
    const arrivalOf = await arrivals({ projects }, { reopenable, origin })
    const decided = rows.map((row) => {
      const requested = byExternalId.get(row.externalId ?? '') ?? []
      const about = { destination, actor, channel: origin.source, arrival: arrivalOf(row), now }
      return { requested, ...decideAll(row, { requested, ...about }) }
    })
    const written = decided.filter(({ updatedBy }) => updatedBy.size > 0)
    for (const slice of slicesBySize(written, { maxSize: MAX_STATEMENT_LENGTH, sizeOf })) {
      const missing = slice.length > 0 ? await taskChanges.updateDecided(slice) : new Set()
      // They are locked, and so is their project; only the list may be closed meanwhile.
      if (missing.size > 0) throw listNotFound(destination.listId)
    }
    return decided.map(({ requested, changed, updatedBy }) => ({
      row: changed,
      requestIds: requested.map(({ id }) => id),
      updatedBy,
    }))
  }

  function decideAll(
    task: TaskRow,
    { requested, destination, actor, channel, arrival, now }: RequestedChanges,
  ): DecidedChange & { updatedBy: Set<string> } {
    const decided = {
      task,
      update: { updatedAt: task.updatedAt, version: task.version },
      changed: task,
      activities: [] as DecidedChange['activities'],
      updatedBy: new Set<string>(),
    }
    for (const { id, changeOf } of requested) {
      const change = changeOf(decided.changed)
      const outcome = decideChange(decided.changed, {
        change,
        moveTo: change.listId === undefined ? undefined : destination,
        actor,
        channel,
        // Needed only for tasks of the source `codehost`, which no request creates.
        connection: undefined,
        arrival,
        now,
      })
      if (!outcome) continue
      decided.update = { ...decided.update, ...outcome.update }
      decided.changed = { ...decided.changed, ...outcome.update }
      decided.updatedBy.add(id)
      const about = { taskId: task.id, projectId: task.projectId }
      for (const { type, metadata } of outcome.activities)
        decided.activities.push(activityRow(clock, { ...about, now, type, actor, metadata }))
    }
    return decided
  }
}

/** How changes of an origin affect the triage of tasks; undefined if they are made here. */
async function arrivals(
  { projects }: Pick<BoundRepositories, 'projects'>,
  { reopenable, origin }: { reopenable: TaskRow[]; origin: TaskOrigin },
): Promise<(task: TaskRow) => Arrival | undefined> {
  if (!arrivesIn(origin.source)) return () => undefined
  const on = await projects.listWithTriage([...new Set(reopenable.map(({ projectId }) => projectId))])
  return ({ projectId }) => ({ isTriageOn: on.has(projectId) })
}

const sizeOf = ({ update }: DecidedChange) => lengthOf(update)
