import { setTimeout as wait } from 'node:timers/promises'
import {
  isConnectionRefused,
  isDamaged,
  isDatabaseAway,
  isPasswordRefused,
  isSettingRefused,
  reasonOf,
} from './database-error.ts'

interface RetryOptions {
  /** How messages name the database: `the database in DATABASE_URL`. */
  database: string
  deadlineMs: number
  pauseMs?: number
  /** Aborts the retries. */
  signal: AbortSignal
  /** Called at the first failure, and then each minute. */
  onWait(reason: string): void
}

/**
 * Retries work that needs the database while it is unavailable.
 * @throws Error with a message for the operator; of the connection string it contains at most host and port, from the
 * network error.
 */
export async function retryUntilDeadline<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { database, deadlineMs, pauseMs = 1_000, signal, onWait } = options
  const deadline = Date.now() + deadlineMs
  let nextWord = 0
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const reason = reasonOf(error)
      const subject = database.replace(/^t/, 'T')
      if (isConnectionRefused(error) || !isDatabaseAway(error))
        throw new Error(`${subject} cannot be used: ${reason}${hintOf(error)}`, { cause: error })
      if (Date.now() + pauseMs > deadline)
        throw new Error(`${subject} did not respond for ${deadlineMs / 1_000} s: ${reason}`, {
          cause: error,
        })
      if (Date.now() >= nextWord) {
        onWait(reason)
        nextWord = Date.now() + SAY_EVERY_MS
      }
      await wait(pauseMs, undefined, { signal })
    }
  }
}

const SAY_EVERY_MS = 60_000

function hintOf(error: unknown): string {
  if (isSettingRefused(error)) {
    return '. If this is a connection pooler, set DATABASE_DIRECT_URL to the address of PostgreSQL itself: see "A connection pooler" in docs/operating.md'
  }
  if (isDamaged(error))
    return '. It is damaged: restore a backup, as "Back up and restore" in docs/operating.md says'
  // The usual cause in containers: another password in .env than when the volume was created.
  return isPasswordRefused(error)
    ? '. If it is the database of docker-compose.yml, its volume keeps the password that it was created with: see "Change the password of the database" in docs/operating.md'
    : ''
}
