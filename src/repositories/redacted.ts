import { isDatabaseAway, withoutValues } from '../db/database-error.ts'
import { AppError, unavailable } from '../errors/index.ts'

/**
 * Removes parameters from the errors of `work`: they contain what was delivered, and errors are logged.
 * @throws unavailable while the database is unavailable
 */
export async function redacted<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw isDatabaseAway(error) ? unavailable(withoutValues(error)) : withoutValues(error)
  }
}
