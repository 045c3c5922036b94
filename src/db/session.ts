import pg from 'pg'
import { attached, begun } from '../lib/traced.ts'
import { databaseSocket } from './database-socket.ts'
import { drizzle, type NodePgDatabase } from './drizzle.ts'
import { statementOf, tracedClient } from './traced-client.ts'

export interface SessionOptions {
  /** Its name in `pg_stat_activity`. */
  name: string
}

interface ConnectionOptions {
  connectionString: string
  cut?: AbortSignal | undefined
  /** Whether statements are part of traces. */
  isTraced: boolean
}

interface NamedStatement {
  /** In traces. */
  name: string
  text: string
}

/** A connection of its own. */
export interface Session {
  db: NodePgDatabase
  /** The bytes of a `copy ... to stdout`, at the pace of the reader. If it stops before the end, close the session. */
  copyOut(statement: NamedStatement): AsyncGenerator<Buffer>
  /** Closes the connection, which rolls back what is not committed. */
  close(): Promise<void>
}

/** The server ends a transaction that is idle for this long: longer than a body or its reader may stall. */
const IDLE_MS = 120_000

/**
 * Opens a connection outside the pool for work that takes as long as its data or its reader: its statements have no time
 * limit. It closes when `cut` is aborted.
 */
export async function openSession(
  { connectionString, cut, isTraced }: ConnectionOptions,
  { name }: SessionOptions,
): Promise<Session> {
  const Client = isTraced ? tracedClient(pg.Client) : pg.Client
  const client = new Client({
    connectionString,
    application_name: name,
    connectionTimeoutMillis: 5_000,
    idle_in_transaction_session_timeout: IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Silence means nothing here: a statement can take minutes.
    stream: () => databaseSocket(0, cut),
  })
  // The statement in progress reports it; without a handler the error would end the process.
  client.on('error', () => {})
  await client.connect()
  // Its reader calls from elsewhere.
  const begin = attached(begun)
  return {
    db: drizzle(client),
    copyOut: ({ name, text }) =>
      copyOut(client, { text, begin: () => begin(statementOf(client, { name, text })) }),
    close: () => client.end().catch(() => {}),
  }
}

/** Received before the connection is paused. */
const PIECE_BYTES = 64 * 1024

/** The driver has no reader for `copy`, only a hook for one. */
async function* copyOut(
  client: pg.Client,
  { text, begin }: { text: string; begin(): (error?: Error) => void },
): AsyncGenerator<Buffer> {
  const socket = client.connection.stream
  let waiting: Buffer[] = []
  let bytes = 0
  let isOver = false
  let failure: Error | undefined
  let wake = () => {}
  const noteEnd = begin()
  const query = Object.assign(new pg.Query(text), {
    handleCopyData({ chunk }: { chunk: Buffer }) {
      // A copy: the driver overwrites the bytes with what it receives next.
      waiting.push(Buffer.from(chunk))
      bytes += chunk.length
      if (bytes >= PIECE_BYTES) socket.pause()
      wake()
    },
  })
  query.on('error', (error) => end(error))
  query.on('end', () => end())
  client.query(query)
  try {
    while (!isOver || bytes > 0) {
      if (bytes === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      const piece = Buffer.concat(waiting)
      waiting = []
      bytes = 0
      yield piece
      socket.resume()
    }
    if (failure) throw failure
  } finally {
    noteEnd(failure)
    socket.resume()
  }

  function end(error?: Error): void {
    failure = error
    isOver = true
    wake()
  }
}
