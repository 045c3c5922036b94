import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { applyMigrations } from './apply-migrations.ts'

const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** One number for every Inlet on a database: whoever holds it prepares, the others wait. */
const START_LOCK = 7_461_001

/**
 * Brings the schema up to this code and then prepares what has to be there, while no other instance does.
 * Many instances may start at once; a killed one lets go of the lock with its connection.
 */
export async function migrate(connectionString: string, prepare = async () => {}): Promise<void> {
  const client = new pg.Client({
    connectionString,
    application_name: 'inlet start',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  })
  // Without a handler a connection that breaks would end the process; the query that waits reports it.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [START_LOCK])
    await client.query("set client_min_messages = 'warning'")
    await applyMigrations(client, migrationsFolder)
    await prepare()
  } finally {
    await client.end()
  }
}
