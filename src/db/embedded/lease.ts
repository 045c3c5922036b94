import { realpath } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { USER } from './cluster.ts'

export interface Credentials {
  password: string
  /** The data directory that the server must report. */
  cluster: string
}

/**
 * A connection that marks a running Inlet process. It is held until stop(), so that a process which has found the
 * server but has no pool yet is visible to another one that is about to stop the server.
 */
export async function connect(
  port: number,
  credentials: Credentials,
): Promise<{ client: pg.Client } | { error: Error }> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: USER,
    password: credentials.password,
    // Not the application's database: an open connection would prevent dropping, renaming or copying it.
    database: 'postgres',
    application_name: LEASE,
    connectionTimeoutMillis: 5_000,
    // A server that is damaged or frozen may never respond.
    query_timeout: RESPONSE_MS,
    keepAlive: true,
  })
  // The server may end at any time; the next query on the lease fails then.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await assertServes(client, credentials.cluster)
    return { client }
  } catch (error) {
    await client.end().catch(() => undefined)
    return { error: error as Error }
  }
}

/** Still starting, recovering or shutting down (57P03), or interrupted by the shutdown (57P01). */
export function isNotReadyYet(error: Error): boolean {
  return ['57P01', '57P03'].includes(codeOf(error))
}

/** The server rejects the connection permanently. */
export function isRefusal(error: Error): boolean {
  return ['28P01', '28000', WRONG_SERVER].includes(codeOf(error))
}

/**
 * Waits for the exclusive right to stop the server, and keeps it until `client` is closed. Returns true if no other
 * Inlet process is connected: their connections are named inlet-something, and this process has closed all but this
 * one.
 */
export async function isLastOne(client: pg.Client): Promise<boolean> {
  keepProcessAlive(client, true)
  await client.query('SELECT pg_advisory_lock($1)', [LOCK])
  return isAlone(client, 'inlet%')
}

/** Whether there is a lease of another process. */
export const isShared = async (client: pg.Client): Promise<boolean> => !(await isAlone(client, LEASE))

/** Whether no other connection has a name like this. */
async function isAlone(client: pg.Client, names: string): Promise<boolean> {
  // Those of a closed pool, or of a process that was killed, remain visible for some milliseconds.
  for (let attempt = 0; attempt < 10; attempt++) {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND application_name LIKE $1 AND pid <> pg_backend_pid()`,
      [names],
    )
    if (rowCount === 0) return true
    await sleep(50)
  }
  return false
}

/** Sets whether the open lease keeps this process alive. */
export function keepProcessAlive(client: pg.Client, keeps: boolean): void {
  // Cast: @types/pg omits these two methods, which pg has had since version 8.0.
  const socket = client as pg.Client & { ref(): void; unref(): void }
  if (keeps) socket.ref()
  else socket.unref()
}

/** Creates the database if absent. */
export async function ensureDatabase(client: pg.Client, name: string): Promise<void> {
  const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
  if (found.rowCount) return
  await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`).catch((error: Error) => {
    // Another process created it since the check.
    if (!['42P04', '23505'].includes(codeOf(error))) throw error
  })
}

/** Another process that is stopping the server holds the lock for as long as that takes. */
const RESPONSE_MS = 20_000
const LEASE = 'inlet lease'
const LOCK = 4_011_719_604
const WRONG_SERVER = 'WRONG_SERVER'

// Taken briefly by every process that starts, and held by the one that stops the server, so that no process starts
// unnoticed in between.
async function assertServes(client: pg.Client, cluster: string): Promise<void> {
  const { rows } = await client.query<{ directory: string }>(
    `SELECT current_setting('data_directory') AS directory, pg_advisory_xact_lock_shared($1)`,
    [LOCK],
  )
  const served = await realpath(rows[0]?.directory ?? '').catch(() => undefined)
  if (served === cluster) return
  const error = new Error(`a server of ${rows[0]?.directory} uses its port`)
  throw Object.assign(error, { code: WRONG_SERVER })
}

function codeOf(error: Error): string {
  return (error as Error & { code?: string }).code ?? ''
}
