import { newTask, sourceOf } from '../../domain/new-task.ts'
import { listNotFound, projectArchived } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { collectRecentGarbage } from '../../lib/collect-garbage.ts'
import { slicesBySize } from '../../lib/slices-by-size.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { NewTaskInBulk } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { actorOf } from '../activity/row.ts'
import { toWrittenItem, type WrittenItem } from './left-out.ts'

/** A requested task: created now, or found by its externalId. */
export interface CreatedTask extends WrittenItem {
  isNew: boolean
}

/** Creates tasks, or finds existing ones by externalId. */
export function creationOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  /**
   * Creates all or none, in the order of the inputs.
   * @throws list_not_found, project_archived
   */
  return async function createMany(
    caller: Caller,
    { listId, inputs }: { listId: string | undefined; inputs: NewTaskInBulk[] },
  ) {
    const bound = repos.within(caller)
    const work = async (repos: BoundRepositories) => {
      const destination = await writableDestination(repos, listId)
      return insertOrFind(repos, { destination, inputs, caller })
    }
    // One statement needs no transaction: two round trips instead of four.
    return isOneStatement(inputs) ? work(bound) : bound.transaction(work)
  }

  async function insertOrFind(
    repos: BoundRepositories,
    { destination, inputs, caller }: { destination: DestinationRow; inputs: NewTaskInBulk[]; caller: Caller },
  ): Promise<CreatedTask[]> {
    const now = clock.now()
    const actor = actorOf(caller)
    const rows = inputs.map((input) => newTask(input, { id: clock.newId(now), now, destination, actor }))
    const created = new Map<string, CreatedTask>()
    const inLockOrder = rows.toSorted(byExternalId)
    // An existing task may be deleted before it is read; then its external id is free again.
    for (
      let missing = inLockOrder;
      missing.length > 0;
      missing = missing.filter(({ id }) => !created.has(id))
    ) {
      const ids = new Set<string>()
      // Building a statement blocks the event loop, so its size is limited.
      for (const slice of slicesBySize<TaskRow>(missing, {
        maxSize: MAX_STATEMENT_LENGTH,
        sizeOf: lengthOf,
      })) {
        const newTasks = slice.map((row) => ({ row, activityId: clock.newId(now) }))
        const { missing: left, isOpen } = await repos.tasks.insertNew(newTasks)
        if (!isOpen) {
          await writableDestination(repos, destination.listId)
          throw projectArchived(destination.projectName)
        }
        for (const { id } of slice) if (!left.has(id)) ids.add(id)
        if (slice.length < missing.length) collectRecentGarbage()
      }
      const present = missing.filter(({ id }) => !ids.has(id))
      const found = await findExisting(repos, { destination, caller, rows: present })
      for (const row of missing) {
        const task = ids.has(row.id) ? row : found.get(row.externalId ?? '')
        if (task) created.set(row.id, { ...toWrittenItem(caller, task), isNew: task === row })
      }
    }
    return rows.map(({ id }) => created.get(id) as CreatedTask)
  }

  async function findExisting(
    repos: BoundRepositories,
    {
      destination: { projectId },
      caller,
      rows,
    }: { destination: DestinationRow; caller: Caller; rows: TaskRow[] },
  ) {
    const externalIds = rows.flatMap(({ externalId }) => externalId ?? [])
    const found =
      externalIds.length === 0
        ? []
        : await repos.tasks.listByExternalIds(projectId, { source: sourceOf(caller.type), ids: externalIds })
    return new Map(found.map((row) => [row.externalId, row]))
  }
}

/** Whether all are created by one statement, or none: no task can exist already, and a slice has room for all. */
function isOneStatement(inputs: NewTaskInBulk[]): boolean {
  if (inputs.length === 1) return true
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

/** Characters of one statement; most batches need only one. */
export const MAX_STATEMENT_LENGTH = 1024 * 1024
/** Not measured; a hundred of the largest are 1.6 MB. */
const ASSUMED_METADATA_LENGTH = 8_192
export const lengthOf = ({ description, metadata }: { description?: string | null; metadata?: unknown }) =>
  (description?.length ?? 0) + (hasMembers(metadata) ? ASSUMED_METADATA_LENGTH : 0)
const hasMembers = (object: unknown) => Object.keys(object ?? {}).length > 0

/** The same order everywhere: statements that share external ids wait for each other instead of deadlocking. */
export const byExternalId = (a: TaskRow, b: TaskRow) => {
  const [first, second] = [a.externalId ?? '', b.externalId ?? '']
  return first === second ? 0 : first < second ? -1 : 1
}
