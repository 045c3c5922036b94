import { AppError, type FieldError } from './app-error.ts'
import { detailOf } from './requests.ts'

/** How many tasks of a cycle a detail names, and how many an error has at most. */
const MAX_NAMED = 10
const MAX_LISTED = 100

/** @param cycle each task is blocked by the next, and the last by the first. */
export function dependencyCycle(cycle: string[]): AppError {
  const named = cycle.slice(0, MAX_NAMED)
  const others = cycle.length - named.length
  const tasks = [...named, ...(others > 0 ? [`${others.toLocaleString('en')} more`] : []), cycle[0]].join(
    ', ',
  )
  return new AppError('dependency_cycle', {
    detail: `The change would make a cycle, in which each task is blocked by the next: ${tasks}. Remove one of these dependencies first.`,
    cycle: cycle.slice(0, MAX_LISTED),
  })
}

/** @param errors of the members of `blockedBy`: a task that was not found decides the code. */
export function invalidBlockers(errors: FieldError[]): AppError {
  const missing = errors.find(({ code }) => code === 'task_not_found')
  const inOrder = missing ? [missing, ...errors.filter((error) => error !== missing)] : errors
  return new AppError(missing ? 'task_not_found' : 'validation_failed', {
    detail: detailOf(inOrder),
    errors,
  })
}

/** @param path of the dependencies, if it is known. */
export const tooManyBlockers = ({ max, path }: { max: number; path: string | undefined }) =>
  new AppError('validation_failed', {
    detail: `A task would wait for more than ${max.toLocaleString('en')} others, directly or not. Remove some dependencies first.`,
    ...(path !== undefined && {
      errors: [
        {
          path,
          code: 'too_many',
          message: `must not lead to more than ${max.toLocaleString('en')} other tasks`,
        },
      ],
    }),
  })
