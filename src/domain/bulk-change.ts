import { AppError } from '../errors/index.ts'
import type { StoredTask } from './task.ts'
import type { ChangeOutcome } from './task-change.ts'

/** One error of a bulk change: its position in the request, and the error that a single change would return. */
export interface BulkRefusal {
  path: string
  error: AppError
}

/** The result of a bulk change: the changes to write, and all errors. */
export interface BulkOutcome {
  changes: { task: StoredTask; outcome: ChangeOutcome }[]
  refusals: BulkRefusal[]
}

/**
 * Decides a change for each of many tasks, in the order of the request; duplicate ids count once.
 * @param decide returns the outcome for one task; throws the error that a change of that task alone would return.
 */
export function decideBulkChange(
  ids: string[],
  decide: (id: string) => { task: StoredTask; outcome: ChangeOutcome | undefined },
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

/** Combines all errors into one with the code of the first, so that clients can branch on it; `errors` lists each. */
export function refusedTogether([first, ...others]: [BulkRefusal, ...BulkRefusal[]]): AppError {
  const all = [first, ...others]
  const { code, extras, message } = first.error
  const more = others.length === 1 ? '1 more error' : `${others.length} more errors`
  return new AppError(code, {
    detail: others.length === 0 ? message : `${message} And ${more}.`,
    ...extras,
    errors: all.map(({ path, error }) => ({ path, code: error.code, message: error.message })),
  })
}

/** Groups changes into statements: within a group the columns and values are equal, except the version. */
export function groupedByColumns(changes: BulkOutcome['changes']) {
  const groups = Map.groupBy(changes, ({ outcome }) => Object.keys(outcome.update).sort().join())
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { version: _, ...update } = first.outcome.update
    return { ids: group.map(({ task }) => task.id), update }
  })
}
