import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { takeTurns } from './connection-turns.ts'
import { isLockConflict } from './database-error.ts'
import { databaseSocket } from './database-socket.ts'
import { drizzle, type NodePgDatabase } from './drizzle.ts'
import { openSession, type Session, type SessionOptions } from './session.ts'
import { keepTraces, tracedClient } from './traced-client.ts'
import { transactionClient } from './transaction-client.ts'

export type Database = NodePgDatabase & {
  $client: pg.Pool
  /** How many wait for a connection. */
  waiting(): number
  /** Opens a connection outside the pool, without a time limit for its statements. */
  openSession(options: SessionOptions): Promise<Session>
}

interface PoolOptions {
  connectionString: string
  /** Leads to the same database where `connectionString` leads to a pooler, which may have no sessions. */
  directConnectionString?: string | undefined
  /** Maximum of connections. More do not make a small machine faster. */
  size: number
  /** Aborted: all connections close at once, and new ones fail. */
  cut?: AbortSignal | undefined
  /** How long the server lets a statement take. */
  statementMs?: number
  /** Whether statements are part of traces. */
  isTraced?: boolean
  onError(error: Error): void
}

/**
 * The planner takes a row that an index leads to for as cheap as the next one in a table. Pages are read in the order of an
 * index. Without this, PostgreSQL sorts all rows of a place if it takes them for few, as it does without statistics.
 */
const PLANNING = { random_page_cost: 1 }

/** The shared pool. Every wait is bounded: to connect, for a statement, for a response. */
export function openDatabase(options: PoolOptions): Database {
  const { connectionString, directConnectionString, size, cut, statementMs = 10_000, onError } = options
  const { isTraced = false } = options
  const limits = { statement_timeout: statementMs, idle_in_transaction_session_timeout: 15_000 }
  const isDirect = directConnectionString === undefined
  const Client = isDirect ? pg.Client : transactionClient({ ...limits, ...PLANNING })
  const pool = new pg.Pool({
    application_name: 'inlet',
    max: size,
    connectionTimeoutMillis: 2_000,
    // The server's timeouts are shorter; the socket timeout is for a server that no longer responds.
    ...(isDirect && limits),
    // No startup parameter: those in the connection string would replace it.
    ...(isDirect && {
      onConnect: (client: pg.ClientBase) =>
        client.query(`set random_page_cost = ${PLANNING.random_page_cost}`),
    }),
    Client: isTraced ? tracedClient(Client) : Client,
    connectionString,
    keepAlive: true,
    stream: () => databaseSocket(12_000, cut),
  })
  const waiting = takeTurns(pool, size)
  if (isTraced) keepTraces(pool)
  // The pool replaces an idle connection that breaks; without a handler the error would end the process.
  pool.on('error', onError)
  // The same for a connection that breaks between two statements of a transaction: the next statement reports it.
  pool.on('connect', (client) => client.on('error', () => {}))
  return Object.assign(drizzle(pool), {
    waiting,
    transaction: transactionsOn(pool),
    openSession: (session: SessionOptions) =>
      openSession({ connectionString: directConnectionString ?? connectionString, cut, isTraced }, session),
  })
}

/** Returns a function that reads the current state of the pool. */
export const poolState =
  ({ $client: pool, waiting }: Pick<Database, '$client' | 'waiting'>) =>
  () => ({
    total: pool.totalCount,
    idle: pool.idleCount,
    waiting: waiting(),
    max: pool.options.max,
  })

/** How often a transaction is begun that PostgreSQL ends because it and another wait for each other's locks. */
const MAX_ATTEMPTS = 5

/** What runs in a transaction, until it ends. */
const transactions = new AsyncLocalStorage<{ isOver: boolean }>()

/**
 * Drizzle's own pool transaction leaks the connection when `begin` fails. Work in a transaction uses its connection only:
 * if each waited for a second one, nobody would get any. Locks are taken in one order, but some follow from what others
 * protect, such as the key of a task that moves: after a deadlock or `lockConflict`, the work is done again from its start.
 */
function transactionsOn(pool: pg.Pool): Database['transaction'] {
  const connect = pool.connect
  pool.connect = ((...args: Parameters<typeof connect>) => {
    if (transactions.getStore()?.isOver === false)
      throw new Error('A transaction waits for a second connection.')
    return connect.apply(pool, args)
  }) as typeof connect
  return async (work, config) => {
    const client = await pool.connect()
    const transaction = { isOver: false }
    try {
      const attempt = () => drizzle(client).transaction(work, config)
      for (let attempts = 1; ; attempts++) {
        try {
          return await transactions.run(transaction, attempt)
        } catch (error) {
          if (!isLockConflict(error) || attempts === MAX_ATTEMPTS) throw error
        }
      }
    } finally {
      transaction.isOver = true
      client.release()
    }
  }
}
