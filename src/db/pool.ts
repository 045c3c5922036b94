import { Socket } from 'node:net'
import pg from 'pg'
import { drizzle, type NodePgDatabase } from './drizzle.ts'

export type Database = NodePgDatabase & { $client: pg.Pool }

interface PoolOptions {
  connectionString: string
  /** Maximum of connections. More do not make a small machine faster. */
  size: number
  onError(error: Error): void
}

/** The shared pool. Every wait is bounded: to connect, for a statement, for a response. */
export function openDatabase({ connectionString, size, onError }: PoolOptions): Database {
  const pool = new pg.Pool({
    application_name: 'inlet',
    max: size,
    connectionTimeoutMillis: 2_000,
    // The server's timeouts are shorter; the socket timeout is for a server that no longer responds.
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 15_000,
    ...boundedConnection(connectionString),
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
export function boundedConnection(connectionString: string) {
  return { connectionString, keepAlive: true, stream: () => socketEndingAfter(12_000) }
}

/**
 * Closes a connection that receives nothing for this long, even if TCP reports it open. The driver's own
 * `query_timeout` would pass it on to the next request.
 */
export function socketEndingAfter(silenceMs: number): Socket {
  const socket = new Socket()
  return socket.setTimeout(silenceMs, () => {
    const words = `the database said nothing for ${silenceMs / 1_000} s`
    socket.destroy(Object.assign(new Error(words), { code: 'ETIMEDOUT' }))
  })
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
