import { isDatabaseAway, isLockConflict, withoutValues } from '../db/database-error.ts'
import { unavailable } from '../errors/index.ts'

/**
 * Names the error of a statement that many callers share, where it is the same for each of them. A lock conflict is
 * not: it ends one statement, and its rows can be written one by one.
 * @throws AppError `unavailable` when the database is away, without the values of the statement; else the error itself.
 */
export function namingUnavailable(error: unknown): never {
  throw isDatabaseAway(error) && !isLockConflict(error) ? unavailable(withoutValues(error)) : error
}
