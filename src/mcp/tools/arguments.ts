import { type FieldError, validationFailed } from '../../errors/index.ts'

/** An error for each of the arguments, which do not belong to the call. */
export const argumentErrors = (args: object, message: string): FieldError[] =>
  Object.entries(args)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => ({ path: `/${name}`, code: 'not_allowed', message }))

/** @throws validation_failed for any of the arguments, which do not belong to the call. */
export function refuseArguments(args: object, message: string): void {
  const errors = argumentErrors(args, message)
  if (errors.length > 0) throw validationFailed(errors)
}
