import { AppError } from '../errors/index.ts'
import type { TaskRow } from '../repositories/tasks.ts'
import type { ChangeOutcome } from './task-change.ts'

/** One thing that stands in the way of a bulk change: where in the request, and the error it would be alone. */
export interface BulkRefusal {
  path: string
  error: AppError
}

/** What a bulk change comes to: who changes how, and all that stands in the way. */
export interface BulkOutcome {
  changes: { task: TaskRow; outcome: ChangeOutcome }[]
  refusals: BulkRefusal[]
}

/**
 * Decides one change for each of many tasks, in the order of the request; an id that is there twice counts once.
 * @param decide what it comes to for one task; throws the error that a change of that task alone would be.
 */
export function decideBulkChange(
  ids: string[],
  decide: (id: string) => { task: TaskRow; outcome: ChangeOutcome | undefined },
): BulkOutcome {
  const all: BulkOutcome = { changes: [], refusals: [] }
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) < index) continue
    try {
      const { task, outcome } = decide(id)
      if (outcome) all.changes.push({ task, outcome })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      all.refusals.push({ path: `/ids/${index}`, error })
    }
  }
  return all
}

/** One error for all: with the code of the first, so that clients can branch on it, and each named in `errors`. */
export function refusedTogether([first, ...others]: [BulkRefusal, ...BulkRefusal[]]): AppError {
  const all = [first, ...others]
  const { code, extras, message } = first.error
  const more = others.length === 1 ? '1 more error' : `${others.length} more errors`
  return new AppError(code, others.length === 0 ? message : `${message} And ${more}.`, {
    ...extras,
    errors: all.map(({ path, error }) => ({ path, code: error.code, message: error.message })),
  })
}

/** The statements to write: changes of the same columns have the same values, all but the version. */
export function groupedByColumns(changes: BulkOutcome['changes']) {
  const groups = Map.groupBy(changes, ({ outcome }) => Object.keys(outcome.update).sort().join())
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { version: _, ...update } = first.outcome.update
    return { ids: group.map(({ task }) => task.id), update }
  })
}
