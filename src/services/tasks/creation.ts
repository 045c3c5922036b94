import { newTaskRow, sourceOf } from '../../domain/new-task.ts'
import { listNotFound, projectArchived } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { Destination } from '../../repositories/lists.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { NewTaskInBulk, WrittenTask } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import { toTask, writtenFor } from './view.ts'

/** A task that was asked for: made now, or here before under the same external id. */
export interface Made {
  task: WrittenTask
  isNew: boolean
}

/** Makes tasks, or finds those that are here under their external id. */
export function creationOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  /** All of them or none, in the order of the inputs. */
  return async function createMany(caller: Caller, listId: string | undefined, inputs: NewTaskInBulk[]) {
    const bound = repos.within(caller)
    const work = async (repos: BoundRepositories) => {
      const destination = await writableDestination(repos, listId)
      return insertOrFind(repos, destination, inputs, caller)
    }
    // One is one statement, which needs no transaction around it: two round trips instead of four.
    return inputs.length === 1 ? work(bound) : bound.transaction(work)
  }

  async function insertOrFind(
    repos: BoundRepositories,
    destination: Destination,
    inputs: NewTaskInBulk[],
    caller: Caller,
  ): Promise<Made[]> {
    const now = clock.now()
    const by = actorOf(caller)
    const rows = inputs.map((input) => newTaskRow(clock.newId(now), now, input, destination, by))
    const made = new Map<string, Made>()
    // In one order everywhere: two batches that share external ids wait for each other instead of deadlocking.
    const inLockOrder = rows.toSorted((a, b) => compare(a.externalId, b.externalId))
    // An external id that was taken may be free again a moment later: the one that had it was deleted.
    for (let missing = inLockOrder; missing.length > 0; missing = missing.filter(({ id }) => !made.has(id))) {
      const ids = new Set<string>()
      // Each statement is put together in one go, so none of them is long.
      for (const some of slicesOf(missing)) {
        const inserted = await repos.tasks.insert(
          some,
          some.map(({ id, projectId }) =>
            activityRow(clock, now, 'task.created', by, { taskId: id, projectId }),
          ),
        )
        if (!inserted) {
          await writableDestination(repos, destination.listId)
          throw projectArchived(destination.projectName)
        }
        for (const id of inserted) ids.add(id)
      }
      const present = missing.filter(({ id }) => !ids.has(id))
      const found = await existing(repos, destination, caller, present)
      for (const row of missing) {
        const task = ids.has(row.id) ? row : found.get(row.externalId ?? '')
        if (task) made.set(row.id, { task: writtenFor(caller, toTask(task)), isNew: task === row })
      }
    }
    return rows.map(({ id }) => made.get(id) as Made)
  }

  async function existing(
    repos: BoundRepositories,
    { projectId }: Destination,
    caller: Caller,
    rows: TaskRow[],
  ) {
    const externalIds = rows.flatMap(({ externalId }) => externalId ?? [])
    const found =
      externalIds.length === 0
        ? []
        : await repos.tasks.listByExternalIds(projectId, sourceOf(caller.type), externalIds)
    return new Map(found.map((row) => [row.externalId, row]))
  }
}

/** @throws list_not_found, project_archived */
export async function writableDestination(
  repos: BoundRepositories,
  listId: string | undefined,
): Promise<Destination> {
  const destination = await repos.lists.findDestination(listId)
  if (!destination) throw listNotFound(listId ?? 'by default')
  if (destination.isArchived) throw projectArchived(destination.projectName)
  return destination
}

/** In statements of about a megabyte; a batch is mostly one. */
function* slicesOf(rows: TaskRow[]): Generator<TaskRow[]> {
  let slice: TaskRow[] = []
  let length = 0
  for (const row of rows) {
    const more = (row.description?.length ?? 0) + (hasMembers(row.metadata) ? USUAL_METADATA : 0)
    if (slice.length > 0 && length + more > STATEMENT_LENGTH) {
      yield slice
      slice = []
      length = 0
    }
    slice.push(row)
    length += more
  }
  yield slice
}

const STATEMENT_LENGTH = 1024 * 1024
/** It is not measured; a hundred of the largest are 1.6 MB. */
const USUAL_METADATA = 8_192
const hasMembers = (object: unknown) => Object.keys(object as object).length > 0

const compare = (a: string | null, b: string | null) => (a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1)
