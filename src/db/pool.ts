import { Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'
import pg from 'pg'
import { drizzle, type NodePgDatabase } from './drizzle.ts'

export type Database = NodePgDatabase & { $client: pg.Pool }

interface PoolOptions {
  connectionString: string
  /** Maximum of connections. More do not make a small machine faster. */
  size: number
  /** Aborted: all connections close at once, and new ones fail. */
  cut?: AbortSignal | undefined
  onError(error: Error): void
}

/** The shared pool. Every wait is bounded: to connect, for a statement, for a response. */
export function openDatabase({ connectionString, size, cut, onError }: PoolOptions): Database {
  const pool = new pg.Pool({
    application_name: 'inlet',
    max: size,
    connectionTimeoutMillis: 2_000,
    // The server's timeouts are shorter; the socket timeout is for a server that no longer responds.
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 15_000,
    ...boundedConnection(connectionString, cut),
  })
  // The pool replaces an idle connection that breaks; without a handler the error would end the process.
  pool.on('error', onError)
  // The same for a connection that breaks between two statements of a transaction: the next statement reports it.
  pool.on('connect', (client) => client.on('error', () => {}))
  return Object.assign(drizzle(pool), { transaction: transactionsOn(pool) })
}

/** Returns a function that reads the current state of the pool. */
export const poolState =
  ({ $client: pool }: Database) =>
  () => ({
    total: pool.totalCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
    max: pool.options.max,
  })

/** Options for a separate pool: a connection without a response for 12 s is closed. */
export function boundedConnection(connectionString: string, cut?: AbortSignal) {
  return { connectionString, keepAlive: true, stream: () => databaseSocket(12_000, cut) }
}

/**
 * A socket that closes when it receives nothing for this long, even if TCP reports it open, and when `cut` is aborted.
 * The driver's own `query_timeout` would pass the connection on to the next request.
 */
export function databaseSocket(silenceMs: number, cut?: AbortSignal): Socket {
  const socket = new Socket()
  socket.setTimeout(silenceMs, () => {
    const message = `no response from the database for ${silenceMs / 1_000} s`
    socket.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }))
  })
  return cut ? addAbortSignal(cut, socket) : socket
}

/** Drizzle's own pool transaction leaks the connection when `begin` fails. */
function transactionsOn(pool: pg.Pool): Database['transaction'] {
  return async (work, config) => {
    const client = await pool.connect()
    try {
      return await drizzle(client).transaction(work, config)
    } finally {
      client.release()
    }
  }
}
