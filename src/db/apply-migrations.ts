import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { isLockConflict, isLockTimeout } from './database-error.ts'
import { readMigrationFiles } from './drizzle.ts'
import { LISTENER } from './listen.ts'

/**
 * Maximum wait of a migration for a lock: every later statement on the table waits behind it. Longer than PostgreSQL's
 * `deadlock_timeout`, after which a blocking autovacuum is cancelled.
 */
const LOCK_TIMEOUT_MS = 3_000

/** Pause between attempts, for the statements that waited behind it. */
const PAUSE_MS = 1_000

/** Maximum time of all attempts: longer than any statement of a running instance. */
const DEADLINE_MS = 60_000

/** How a migration begins that is not one transaction. */
const IN_STEPS = '-- Outside of a transaction'

/** How one begins that instances of the version before cannot work with. */
const STOPS_ALL = '-- While no instance runs'

type Migration = ReturnType<typeof readMigrationFiles>[number]

interface ApplyOptions {
  migrationsFolder: string
  /** Called before the first of the missing migrations, if there is any. */
  onPending?(): void
}

/**
 * Applies what the database does not have yet, in drizzle's own table. Almost every migration is a transaction of its
 * own, where drizzle's migrator takes one for all: the locks of the first would last until the end of the slowest.
 * @throws Error if the database has a migration of a later version, whose schema this code does not know; or if instances
 * run that have to be stopped
 */
export async function applyMigrations(
  client: pg.Client,
  { migrationsFolder, onPending = () => {} }: ApplyOptions,
): Promise<void> {
  await client.query('create schema if not exists drizzle')
  await client.query(
    'create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
  )
  const { rows } = await client.query('select max(created_at) as last from drizzle.__drizzle_migrations')
  const last = Number(rows[0].last)
  const known = readMigrationFiles({ migrationsFolder })
  if (known.every(({ folderMillis }) => folderMillis < last)) {
    throw new Error(
      'it was migrated by a later version of Inlet. Start that version, or restore a backup from before the upgrade',
    )
  }
  const pending = known.filter(({ folderMillis }) => folderMillis > last)
  if (pending.some(({ sql }) => sql[0]?.startsWith(STOPS_ALL))) await refuseBesideOthers(client)
  if (pending.length > 0) onPending()
  for (const migration of pending) await applyWithRetries(client, migration)
}

/** @throws Error while instances run that have started already */
async function refuseBesideOthers(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    'select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = $1',
    [LISTENER],
  )
  if (rows[0].count === 0) return
  throw new Error(
    `this upgrade needs all instances to be stopped, and ${rows[0].count} of the earlier version still run. Stop them, then start again`,
  )
}

async function applyWithRetries(client: pg.Client, migration: Migration): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    try {
      return await applyOne(client, migration)
    } catch (error) {
      await client.query('rollback').catch(() => {})
      if (!(isLockTimeout(error) || isLockConflict(error)) || Date.now() > deadline) throw error
      await wait(PAUSE_MS)
    }
  }
}

async function applyOne(client: pg.Client, { sql, hash, folderMillis }: Migration): Promise<void> {
  // Copies many rows: its statements commit in steps, and can be repeated.
  const isInSteps = sql[0]?.startsWith(IN_STEPS)
  if (isInSteps) for (const statement of sql) await client.query(statement)
  await client.query('begin')
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
  if (!isInSteps) for (const statement of sql) await client.query(statement)
  await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
    hash,
    folderMillis,
  ])
  await client.query('commit')
}
