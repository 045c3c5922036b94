import { byExternalId } from '../../domain/new-task.ts'
import { AppError, type ErrorCode } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { Caller } from '../access.ts'
import { namesBlockers } from './blockers.ts'
import { type CreatedTask, type Creation, creationOf, writableDestination } from './creation.ts'

/** What one input makes wrong: without it, the others can be created. */
const OF_AN_INPUT: readonly ErrorCode[] = [
  'dependency_cycle',
  'validation_failed',
  'description_read_only',
  'merge_conflict',
]

/** Creates the tasks that can be created. */
export function possibleCreationOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  /**
   * Creates the tasks, or finds them, in one transaction. Returns the error of each input that can't be made.
   * @throws list_not_found, project_archived
   */
  return async function createPossible(
    caller: Caller,
    creation: Creation,
  ): Promise<(CreatedTask | AppError)[]> {
    try {
      return await creationOf({ repos, clock })(caller, creation)
    } catch (error) {
      if (!isOfAnInput(error)) throw error
    }
    return repos.transaction((repos) => createParts({ repos, clock }, { caller, creation }))
  }
}

/** Halves what fails until it is one input. The parts are in the order in which tasks are locked. */
async function createParts(
  { repos, clock }: { repos: Repositories; clock: Clock },
  { caller, creation }: { caller: Caller; creation: Creation },
): Promise<(CreatedTask | AppError)[]> {
  const { inputs, listId } = creation
  const create = creationOf({ repos, clock })
  const bound = repos.within(caller)
  const { projectId } = await writableDestination(bound, listId)
  // Before any task: what fails takes it, and lets it go again.
  if (inputs.some(namesBlockers)) await bound.taskDependencies.lock([projectId])
  const results = new Map<number, CreatedTask | AppError>()

  async function createPart(part: { input: Creation['inputs'][number]; index: number }[]): Promise<void> {
    try {
      const made = await create(caller, { ...creation, inputs: part.map(({ input }) => input) })
      for (const [nth, { index }] of part.entries()) results.set(index, made[nth] as CreatedTask)
    } catch (error) {
      if (!isOfAnInput(error)) throw error
      const [first] = part
      if (part.length === 1 && first) results.set(first.index, error)
      else {
        const half = Math.ceil(part.length / 2)
        await createPart(part.slice(0, half))
        await createPart(part.slice(half))
      }
    }
  }

  const inOrder = inputs.map((input, index) => ({ input, index }))
  await createPart(inOrder.toSorted((a, b) => byExternalId(a.input, b.input)))
  return inputs.map((_, index) => results.get(index) as CreatedTask | AppError)
}

const isOfAnInput = (error: unknown): error is AppError =>
  error instanceof AppError && OF_AN_INPUT.includes(error.code)
