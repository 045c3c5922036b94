import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { applyMigrations } from './apply-migrations.ts'
import { databaseIdOf } from './database-id.ts'
import { databaseSocket } from './database-socket.ts'
import { watchDatabase } from './watchdog.ts'

const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The advisory lock of all instances on a database: its owner migrates and prepares, the others wait. */
const START_LOCK = 7_461_001

const LOCK_POLL_MS = 200

/** No transaction of a start is idle. A pooler refuses or ignores this setting, and shows itself by that. */
const IDLE_MS = 60_000

interface MigrateOptions {
  /** Of the database that requests use over a pooler: it must be the same one. */
  databaseId?: string | undefined
  /** Runs under the same lock, once the schema is up to date. */
  prepare?(): Promise<void>
  /** Aborted: the connection closes at once. */
  cut?: AbortSignal | undefined
  /** Aborted: nobody waits for other instances any more. What has begun is finished. */
  signal?: AbortSignal | undefined
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
  const { databaseId, prepare = async () => {}, cut, signal } = options
  const { silenceMs = 5_000, watchdog: watchdogOptions } = options
  const socket = databaseSocket(silenceMs, cut)
  const client = new pg.Client({
    connectionString,
    application_name: 'inlet start',
    idle_in_transaction_session_timeout: IDLE_MS,
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
    await expectOwnSession(client)
    if (databaseId !== undefined && (await databaseIdOf(client)) !== databaseId) {
      throw new Error('it is not the database that DATABASE_URL leads to')
    }
    await acquireStartLock(client, signal)
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

async function expectOwnSession(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select setting from pg_settings where name = 'idle_in_transaction_session_timeout'`,
  )
  if (rows[0].setting === String(IDLE_MS)) return
  throw new Error(
    'it is behind a connection pooler. Set DATABASE_DIRECT_URL to the address of PostgreSQL itself: see "A connection pooler" in docs/operating.md',
  )
}

/** By polling: a statement that waits for the lock could not be told from a database that does not respond. */
async function acquireStartLock(client: pg.Client, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as acquired', [START_LOCK])
    if (rows[0].acquired) return
    await wait(LOCK_POLL_MS, undefined, { signal })
  }
}
