import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { applyMigrations } from './apply-migrations.ts'
import { databaseSocket } from './database-socket.ts'
import { watchDatabase } from './watchdog.ts'

const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The advisory lock of all instances on a database: its owner migrates and prepares, the others wait. */
const START_LOCK = 7_461_001

const LOCK_POLL_MS = 200

interface MigrateOptions {
  /** Runs under the same lock, once the schema is up to date. */
  prepare?(): Promise<void>
  /** Aborted: the connection closes at once. */
  cut?: AbortSignal | undefined
  /** How long the database may take to respond. Statements of migrations are exempt: building an index can take hours. */
  silenceMs?: number
  /** How a database that freezes during a migration is noticed. */
  watchdog?: { intervalMs: number; deadlineMs: number }
}

/**
 * Brings the schema up to this code and then prepares what has to be there, while no other instance does.
 * Many instances may start at once; the lock of a killed one is released with its connection.
 */
export async function migrate(connectionString: string, options: MigrateOptions = {}): Promise<void> {
  const { prepare = async () => {}, cut, silenceMs = 5_000, watchdog: watchdogOptions } = options
  const socket = databaseSocket(silenceMs, cut)
  const client = new pg.Client({
    connectionString,
    application_name: 'inlet start',
    stream: () => socket,
    keepAlive: true,
    // A long statement of a migration sends nothing either: keep-alive detects a host that has disappeared, and the
    // watchdog a server that is frozen.
    keepAliveInitialDelayMillis: 10_000,
  })
  let watchdog: ReturnType<typeof watchDatabase> | undefined
  const onPending = () => {
    socket.setTimeout(0)
    const onSilent = (error: Error) => void socket.destroy(error)
    watchdog = watchDatabase({ connectionString, onSilent, ...watchdogOptions })
  }
  // Without a handler a connection that breaks would end the process; the pending query reports it.
  client.on('error', () => {})
  await client.connect()
  try {
    await acquireStartLock(client)
    await client.query("set client_min_messages = 'warning'")
    await applyMigrations(client, { migrationsFolder, onPending }).finally(() => watchdog?.stop())
    // Idle from here on, for as long as the preparation takes.
    socket.setTimeout(0)
    await prepare()
  } finally {
    socket.setTimeout(silenceMs)
    await client.end()
  }
}

/** By polling: a statement that waits for the lock could not be told from a database that does not respond. */
async function acquireStartLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as acquired', [START_LOCK])
    if (rows[0].acquired) return
    await wait(LOCK_POLL_MS)
  }
}
