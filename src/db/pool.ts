import { Socket } from 'node:net'
import pg from 'pg'
import { drizzle, type NodePgDatabase } from './drizzle.ts'

export type Database = NodePgDatabase & { $client: pg.Pool }

interface PoolOptions {
  connectionString: string
  /** Connections at most. More do not make a small machine faster. */
  size: number
  onError(error: Error): void
}

/** The pool everything runs on. Every wait has an end: to connect, for a statement, for an answer. */
export function openDatabase({ connectionString, size, onError }: PoolOptions): Database {
  const pool = new pg.Pool({
    application_name: 'inlet',
    max: size,
    connectionTimeoutMillis: 2_000,
    // The server gives up first; the end of the silence is for a server that cannot.
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 15_000,
    ...boundedConnection(connectionString),
  })
  // An idle connection that breaks is replaced by the pool; without a handler it would end the process.
  pool.on('error', onError)
  // So would one that breaks in a transaction between two statements: there the next one reports it.
  pool.on('connect', (client) => client.on('error', () => {}))
  return Object.assign(drizzle(pool), { transaction: transactionsOn(pool) })
}

/** Says how the pool is doing at the moment it is asked. */
export const poolState =
  ({ $client: pool }: Database) =>
  () => ({
    total: pool.totalCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
    max: pool.options.max,
  })

/** For a pool of its own: a connection on which what was asked is not answered for 12 s ends. */
export function boundedConnection(connectionString: string) {
  return { connectionString, keepAlive: true, stream: () => socketEndingAfter(12_000) }
}

/**
 * A connection on which nothing came for so long is dead, whatever TCP says. The driver's own `query_timeout` would
 * hand it on to the next request.
 */
export function socketEndingAfter(silenceMs: number): Socket {
  const socket = new Socket()
  return socket.setTimeout(silenceMs, () => {
    const words = `the database said nothing for ${silenceMs / 1_000} s`
    socket.destroy(Object.assign(new Error(words), { code: 'ETIMEDOUT' }))
  })
}

/** Drizzle's own transaction on a pool keeps the connection for ever when `begin` fails. */
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
