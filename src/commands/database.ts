import { isDatabaseAway } from '../db/database-error.ts'
import { type EmbeddedServer, startExisting } from '../db/embedded/index.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/pool.ts'
import { retryUntilDeadline } from '../db/retry.ts'
import { type Repositories, repositories } from '../repositories/index.ts'
import { databaseNames } from '../start-text.ts'
import { type Call, LOG } from './call.ts'

export interface CommandDatabase {
  repos: Repositories
  /** The embedded one. */
  server: EmbeddedServer | undefined
}

/** How long a command waits for a database that is starting. */
const DATABASE_DEADLINE_MS = 10_000

/**
 * Works on the database, with the schema of this version, while no instance starts. If the database becomes unavailable,
 * `work` is called again. What it returns is why it refuses, which becomes an error as it is.
 * @throws Error with sentences that say what failed
 */
export async function onDatabase(
  { config, signal }: Pick<Call, 'config' | 'signal'>,
  work: (database: CommandDatabase) => Promise<string | undefined>,
): Promise<void> {
  const { dataDir, databasePool: size } = config
  const databaseUrl = config.databaseDirectUrl ?? config.databaseUrl
  const server = databaseUrl ? undefined : await startExisting({ dataDir, log: LOG })
  const connectionString = databaseUrl ?? server?.connectionString ?? ''
  const db = openDatabase({ connectionString, size, onError() {} })
  let refusal: string | undefined
  const prepare = async () => {
    refusal = await work({ repos: repositories(db), server }).catch(refusalIn)
  }
  try {
    await retryUntilDeadline(() => migrate(connectionString, { prepare }), {
      database: databaseNames(config).sessions,
      deadlineMs: DATABASE_DEADLINE_MS,
      signal,
      onWait: (reason) => LOG.warn({}, `Waiting for the database: ${reason}`),
    })
  } finally {
    await db.$client.end()
    await server?.stop()
  }
  if (refusal) throw new Error(refusal)
}

/** What a use case refuses is no fault of the database. */
function refusalIn(error: unknown): string {
  if (error instanceof Error && error.name === 'AppError' && !isDatabaseAway(error)) return error.message
  throw error
}

/** Why a command refuses that needs the database for itself. */
export const RUNNING = 'Inlet is running with this database. Stop all instances, then run this again.'
