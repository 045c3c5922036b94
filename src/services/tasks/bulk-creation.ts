import { changeWhenExisting, type WhenExisting } from '../../domain/existing-task.ts'
import { byExternalId } from '../../domain/new-task.ts'
import { pastSnooze, withoutPastSnooze } from '../../domain/triage.ts'
import { AppError, type ErrorCode, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { NewTaskInBulk } from '../../schemas/task-requests.ts'
import type { Caller } from '../access.ts'
import { namesBlockers, refusedInputs } from './blockers.ts'
import { type CreatedTask, type Creation, creationOf, writableDestination } from './creation.ts'

interface BulkCreation extends WhenExisting {
  /** Where new tasks are created; existing ones stay in their list. */
  listId: string
  /** Each input, or why it is invalid. */
  inputs: (NewTaskInBulk | AppError)[]
  /** Whether the others are created if some can't be. */
  isPartial: boolean
}

type Outcome = CreatedTask | AppError

/** What one input makes wrong: without it, the others can be created. */
const OF_AN_INPUT: readonly ErrorCode[] = [
  'dependency_cycle',
  'validation_failed',
  'description_read_only',
  'merge_conflict',
]

/** Where an input is in a request. */
export const itemPath = (index: number) => `/tasks/${index}`

/** Creates many tasks in one transaction: all or none, or those that can be created. */
export function bulkCreationOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  /**
   * Returns for each input the task that was created, or found by its externalId; with `isPartial`, the error of each that
   * can't be created.
   * @throws list_not_found, project_archived; unless `isPartial`, also validation_failed with the errors of all inputs,
   * description_read_only, merge_conflict, dependency_cycle
   */
  return async function createMany(
    caller: Caller,
    { listId, inputs, isPartial, ...existing }: BulkCreation,
  ): Promise<Outcome[]> {
    const now = clock.now()
    const named = inputs.map((input) =>
      input instanceof AppError ? undefined : withoutPastSnooze(input, now),
    )
    const blockers = await refusedInputs(repos.within(caller), {
      caller,
      listId,
      inputs: named,
      pathOf: itemPath,
    })
    const refusals = inputs.map((input, index) => {
      if (input instanceof AppError) return input
      const path = `${itemPath(index)}/snoozedUntil`
      return blockers[index] ?? pastSnooze(named[index] ?? {}, { now, path })
    })
    if (!isPartial && refusals.some(Boolean)) throw together(refusals)
    const valid = named.flatMap((input, index) => (input && !refusals[index] ? [input] : []))
    const creation = { listId, inputs: valid, changeOf: changeWhenExisting(existing) }
    const made = await creationOf({ repos, clock })(caller, creation).catch((error: unknown) => {
      if (!isPartial || !isOfAnInput(error)) throw error
      return repos.transaction((repos) => createPossible(repos, { caller, creation }))
    })
    const outcomes = made.values()
    return refusals.map((refusal) => refusal ?? (outcomes.next().value as Outcome))
  }

  /** Halves what fails until it is one input. The parts are in the order in which tasks are locked. */
  async function createPossible(
    repos: Repositories,
    { caller, creation }: { caller: Caller; creation: Creation },
  ): Promise<Outcome[]> {
    const create = creationOf({ repos, clock })
    const bound = repos.within(caller)
    const { projectId } = await writableDestination(bound, creation.listId)
    // Before any task: what fails takes it, and lets it go again.
    if (creation.inputs.some(namesBlockers)) await bound.taskDependencies.lock([projectId])
    const inOrder = creation.inputs.toSorted(byExternalId)
    const outcomes = await createPart(inOrder)
    const outcomeOf = new Map(inOrder.map((input, index) => [input, outcomes[index] as Outcome]))
    return creation.inputs.map((input) => outcomeOf.get(input) as Outcome)

    async function createPart(inputs: NewTaskInBulk[]): Promise<Outcome[]> {
      try {
        return await create(caller, { ...creation, inputs })
      } catch (error) {
        if (!isOfAnInput(error)) throw error
        if (inputs.length === 1) return [error]
        const half = Math.ceil(inputs.length / 2)
        const first = await createPart(inputs.slice(0, half))
        return [...first, ...(await createPart(inputs.slice(half)))]
      }
    }
  }
}

/** One error for all inputs. */
function together(refusals: (AppError | undefined)[]): AppError {
  return validationFailed(
    refusals.flatMap((refusal) => refusal?.extras.errors ?? []),
    refusals.reduce((sum, refusal) => sum + (refusal?.extras.errorsOmitted ?? 0), 0),
  )
}

const isOfAnInput = (error: unknown): error is AppError =>
  error instanceof AppError && OF_AN_INPUT.includes(error.code)
