import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { keepProcessAlive } from './lease.ts'
import { type Cluster, logSize, reachServer } from './server.ts'

export interface Supervisor {
  /** Stops watching. The connection of the returned lease may be broken. */
  release(): Promise<Client>
}

interface Options {
  cluster: Cluster
  lease: Client
  /** Connection strings contain the port, so the server must restart on it. */
  port: number
  log: Log
  /** Called when the server ended and could not be restarted. */
  onLost(error: Error): void
}

interface Log {
  info(obj: object, msg: string): void
  warn(obj: object, msg: string): void
}

/**
 * Watches the server through the lease connection: when it breaks, reconnects, and restarts the server if it ended.
 * All processes that share the server do this at the same time; one of them starts it.
 */
export function superviseServer({ cluster, lease, port, log, onLost }: Options): Supervisor {
  const released = new AbortController()
  const dataDir = cluster.location.cluster
  let current = lease
  let startedAt = Number.NEGATIVE_INFINITY
  let restarting = Promise.resolve()
  const logBefore = logSize(dataDir)
  watch(lease)

  return {
    async release() {
      released.abort(new Error('the process is shutting down'))
      await restarting
      return current
    },
  }

  function watch(client: Client): void {
    current = client
    keepProcessAlive(client, false)
    client.once('end', () => {
      if (!released.signal.aborted) restarting = restart()
    })
  }

  async function restart(): Promise<void> {
    const since = performance.now()
    log.warn({ dataDir }, 'embedded database stopped unexpectedly')
    try {
      // A pause between restarts of a server that keeps ending.
      if (since - startedAt < QUICK_END_MS) await sleep(PAUSE_MS, undefined, { signal: released.signal })
      const { client, isStarted } = await reachServer(cluster, {
        log,
        port,
        signal: released.signal,
        logFrom: await logBefore,
      })
      startedAt = performance.now()
      const ms = Math.round(startedAt - since)
      log.warn({ dataDir, port, ms }, `embedded database ${isStarted ? 'started' : 'reached'} again`)
      watch(client)
    } catch (error) {
      if (released.signal.aborted) return
      const words = `The embedded database ended and could not be started again: ${(error as Error).message}`
      onLost(new Error(words, { cause: error }))
    }
  }
}

const QUICK_END_MS = 1_000
const PAUSE_MS = 1_000
