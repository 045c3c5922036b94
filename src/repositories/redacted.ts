import { isDatabaseAway, withoutValues } from '../db/database-error.ts'
import { AppError, unavailable } from '../errors/index.ts'

/**
 * Removes values from the errors of `work`, which are logged: they contain texts of issues, and of feedback with e-mail
 * addresses.
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
