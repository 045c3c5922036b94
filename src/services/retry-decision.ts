import { AppError, conflict, type ErrorCode, isConflict } from '../errors/index.ts'

/** How often a decision is made again because what it depends on was deleted, archived or moved. */
const MAX_DECISIONS = 5

const GONE: ErrorCode[] = ['list_not_found', 'project_not_found']

/**
 * Does the work, and repeats it when what it was decided on has changed before it was locked.
 * @throws unavailable after five attempts
 */
export async function retryDecision<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!hasLostRace(error)) throw error
      if (attempt === MAX_DECISIONS) throw conflict(error)
    }
  }
}

const hasLostRace = (error: unknown): boolean =>
  isConflict(error) || (error instanceof AppError && GONE.includes(error.code))
