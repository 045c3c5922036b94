import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { onParentEnd } from './lib/parent-process.ts'

/** Shutdown of the process: its steps and its signals. */
export interface Lifetime {
  /** Registers a step; steps run in reverse order. */
  onEnd(end: () => Promise<unknown>): void
  /** For a part that failed for good: ends the process with 1, so that a supervisor restarts it. */
  fail(error: Error): void
  signal: AbortSignal
  /** Aborted a while later: connections to the database close whatever they wait for. */
  cutDatabase: AbortSignal
}

interface LifeOptions {
  logger: Logger
  endsWithParent: boolean
  start(lifetime: Lifetime): Promise<void>
}

// Docker kills after 10 s. What still waits for the database is cut first, so that its request gets a 503; then the
// connections of clients, so that the rest has time to end.
const CUT_DATABASE_MS = 6_000
export const CUT_CLIENTS_MS = 6_500
const GONE_MS = 9_000

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const

/** Stops whatever was started, also after an early signal or a failed start. */
export async function live({ logger, endsWithParent, start }: LifeOptions): Promise<void> {
  const ends: (() => Promise<unknown>)[] = []
  const ending = new AbortController()
  const cutDatabase = new AbortController()
  // One listener for each connection.
  setMaxListeners(0, cutDatabase.signal)
  const started = start({
    onEnd: (end) => void ends.unshift(end),
    fail: (error) =>
      // As an uncaught error: closeWithGrace has no other way to end with 1.
      queueMicrotask(() => {
        if (!ending.signal.aborted) throw error
      }),
    signal: ending.signal,
    cutDatabase: cutDatabase.signal,
  })

  const grace = closeWithGrace({ delay: GONE_MS, logger, skip: [...SIGNALS] }, async ({ err }) => {
    if (err) logger.fatal({ err }, 'unexpected error, shutting down')
    ending.abort(new Error('The process is shutting down.'))
    setTimeout(() => cutDatabase.abort(), CUT_DATABASE_MS)
    // Whatever a start still waits for, what it has started ends.
    await Promise.race([started.catch(() => {}), wait(CUT_CLIENTS_MS, undefined, { ref: false })])
    await endAll()
  })
  // Ctrl-C in `npm start` arrives twice: from the terminal and from npm.
  const end = () => ending.signal.aborted || grace.close()
  for (const signal of SIGNALS) process.on(signal, end)
  if (endsWithParent) onParentEnd(end)

  await started.catch(async (error) => {
    if (ending.signal.aborted) return
    await endAll()
    throw error
  })

  async function endAll() {
    for (const end of ends.splice(0)) await end().catch((err) => logger.warn({ err }, 'shutdown step failed'))
  }
}
