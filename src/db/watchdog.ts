import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { errorChain } from '../lib/error-chain.ts'
import { databaseSocket } from './database-socket.ts'

interface WatchdogOptions {
  connectionString: string
  intervalMs?: number
  /** How long the database may be silent. */
  deadlineMs?: number
  /** Called once, when it was silent for longer. */
  onSilent(error: Error): void
}

/**
 * Asks the database whether it responds, on connections of its own, while another connection waits for a statement that
 * takes what it takes. A frozen server acknowledges TCP, so nothing else tells it from a slow statement.
 */
export function watchDatabase({
  connectionString,
  intervalMs = 5_000,
  deadlineMs = 30_000,
  onSilent,
}: WatchdogOptions) {
  const stopped = new AbortController()
  const { signal } = stopped
  void watch()

  return { stop: () => stopped.abort() }

  async function watch(): Promise<void> {
    let respondedAt = performance.now()
    while (!signal.aborted) {
      if (await responds()) respondedAt = performance.now()
      if (signal.aborted) return
      if (performance.now() - respondedAt >= deadlineMs) {
        return onSilent(new Error(`it did not respond for ${deadlineMs / 1_000} s during a migration`))
      }
      await wait(intervalMs, undefined, { signal }).catch(() => {})
    }
  }

  async function responds(): Promise<boolean> {
    const client = new pg.Client({
      connectionString,
      application_name: 'inlet watchdog',
      stream: () => databaseSocket(deadlineMs, signal),
    })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select 1')
      return true
    } catch (error) {
      // The server's own error, such as too many connections, is a response.
      return errorChain(error).some(({ severity }) => severity !== undefined)
    } finally {
      await client.end().catch(() => {})
    }
  }
}
