import type { BulkRefusal } from '../../domain/bulk-change.ts'
import { distinctIds, findCycle, type RefusedBlocker, refusedBlockers } from '../../domain/dependencies.ts'
import type { Destination } from '../../domain/task.ts'
import {
  type AppError,
  dependencyCycle,
  type FieldError,
  invalidBlockers,
  tooManyBlockers,
} from '../../errors/index.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { NewTaskInBulk, TaskChange } from '../../schemas/task-requests.ts'
import type { Caller } from '../access.ts'

/**
 * How many others a task may wait for, directly or not. Looking for a cycle takes PostgreSQL 60 ms of processor time for a
 * chain of so many, and 120 ms if each has 20 blockers.
 */
const MAX_REACHED = 10_000

/** Whether tasks may be blocked by more tasks afterwards. */
export const namesBlockers = ({ blockedBy = [] }: Pick<TaskChange, 'blockedBy'>) => blockedBy.length > 0

/**
 * Checks the tasks that a change names in `blockedBy`. They are not locked: one that is deleted or moved meanwhile doesn't
 * block any more.
 * @throws task_not_found, validation_failed
 */
export async function requireBlockers(
  { taskDependencies }: Pick<BoundRepositories, 'taskDependencies'>,
  {
    task,
    change: { blockedBy = [] },
    moveTo,
  }: { task: TaskRow; change: TaskChange; moveTo: Destination | undefined },
): Promise<void> {
  if (blockedBy.length === 0) return
  const projectOf = await taskDependencies.projectsOf(distinctIds(blockedBy))
  const refused = refusedBlockers(blockedBy, { task, projectId: (moveTo ?? task).projectId, projectOf })
  if (refused.length > 0) throw invalidBlockers(errorsOf(refused))
}

/** The same for one change of many tasks: each task that it names is refused once. */
export async function refusedBlockersOf(
  { taskDependencies }: Pick<BoundRepositories, 'taskDependencies'>,
  {
    tasks,
    change: { blockedBy = [] },
    moveTo,
  }: { tasks: TaskRow[]; change: TaskChange; moveTo: Destination | undefined },
): Promise<BulkRefusal[]> {
  if (blockedBy.length === 0) return []
  const projectOf = await taskDependencies.projectsOf(distinctIds(blockedBy))
  const refused = tasks.flatMap((task) =>
    refusedBlockers(blockedBy, { task, projectId: (moveTo ?? task).projectId, projectOf }),
  )
  const byIndex = new Map(refused.map((each) => [each.index, each]))
  const inOrder = [...byIndex.values()].toSorted((a, b) => a.index - b.index)
  return errorsOf(inOrder, '/change').map((error) => ({
    path: error.path,
    error: invalidBlockers([error]),
  }))
}

interface NamingInputs {
  caller: Caller
  listId: string | undefined
  /** Without those that are invalid. */
  inputs: (NewTaskInBulk | undefined)[]
  /** Of an input, by its index. */
  pathOf?: (index: number) => string
}

/** The same for inputs of new tasks: the error of each. An existing task with an input's externalId keeps its own. */
export async function refusedInputs(
  { taskDependencies, lists, tasks }: Pick<BoundRepositories, 'taskDependencies' | 'lists' | 'tasks'>,
  { caller, listId, inputs, pathOf = () => '' }: NamingInputs,
): Promise<(AppError | undefined)[]> {
  const named = distinctIds(inputs.flatMap((input) => input?.blockedBy ?? []))
  if (named.length === 0) return []
  const destination = await lists.findDestination(listId)
  // Creating the tasks fails for this reason.
  if (!destination) return []
  const { projectId } = destination
  const projectOf = await taskDependencies.projectsOf(named)
  const refusedOf = (input: NewTaskInBulk | undefined, task?: TaskRow) =>
    refusedBlockers(input?.blockedBy ?? [], { task, projectId, projectOf })
  const externalIds = inputs.flatMap((input) => (refusedOf(input).length > 0 && input?.externalId) || [])
  const existing =
    externalIds.length === 0
      ? []
      : await tasks.listByExternalIds(projectId, {
          source: caller.channel,
          ids: externalIds,
          texts: [],
        })
  const taskOf = new Map(existing.map((task) => [task.externalId, task]))
  return inputs.map((input, index) => {
    const refused = refusedOf(input, taskOf.get(input?.externalId ?? null))
    return refused.length > 0 ? invalidBlockers(errorsOf(refused, pathOf(index))) : undefined
  })
}

/**
 * Looks for cycles after changes that are written, in a transaction that has locked the dependencies of their projects.
 * @throws dependency_cycle, validation_failed
 */
export async function requireNoCycle(
  { taskDependencies }: Pick<BoundRepositories, 'taskDependencies'>,
  { changed, path }: { changed: { id: string; blockedBy?: string[] }[]; path?: string },
): Promise<void> {
  const ids = changed.flatMap(({ id, blockedBy = [] }) => (blockedBy.length > 0 ? [id] : []))
  if (ids.length === 0) return
  const limit = ids.length + MAX_REACHED
  const reached = await taskDependencies.listReached(ids, limit)
  if (reached.length > limit) throw tooManyBlockers({ max: MAX_REACHED, path })
  const blocked = reached.filter(({ blockedBy }) => blockedBy.length > 0)
  const cycle = findCycle(new Map(blocked.map(({ id, blockedBy }) => [id, blockedBy])), ids)
  if (cycle) throw dependencyCycle(cycle)
}

/** Which of these tasks are blocked by one that still has to be done; most have no blockers. */
export async function blockedAmong(
  { taskDependencies }: Pick<BoundRepositories, 'taskDependencies'>,
  rows: Pick<TaskRow, 'id' | 'blockedBy'>[],
): Promise<Set<string>> {
  const ids = rows.flatMap(({ id, blockedBy }) => (blockedBy.length > 0 ? [id] : []))
  return ids.length === 0 ? new Set() : taskDependencies.listBlocked(ids)
}

const errorsOf = (refused: RefusedBlocker[], path = ''): FieldError[] =>
  refused.map(({ index, ...error }) => ({ path: `${path}/blockedBy/${index}`, ...error }))
