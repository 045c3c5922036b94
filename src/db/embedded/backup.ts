import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import pg from 'pg'
import { packTar, type TarEntry } from '../../lib/tar.ts'
import { type BackupHeader, entryOf, FORMAT, seal } from './backup-format.ts'
import { clusterFile, clusterFiles, clusterSize, PREFIX } from './cluster-files.ts'
import { refuseSmallDisk } from './disk-space.ts'
import { type EmbeddedOptions, startExisting } from './index.ts'
import { exists, removeAbandoned, scratchName, syncDirectory } from './staging.ts'

interface BackupOptions extends Pick<EmbeddedOptions, 'dataDir' | 'log' | 'settings'> {
  /** Must not exist. */
  file: string
  about: Pick<BackupHeader, 'version' | 'encryptionKey' | 'previousEncryptionKeys'>
  /** Aborts it, and leaves nothing behind. */
  signal?: AbortSignal | undefined
}

/**
 * Copies the files of the embedded database while it is used, as PostgreSQL's "low-level API" for backups prescribes. If
 * the database does not run, it is started meanwhile. Returns the size of the backup in bytes.
 * @throws Error with sentences that say what failed
 */
export async function backUp({ dataDir, file, about, signal, ...rest }: BackupOptions): Promise<number> {
  const target = resolve(file)
  if (await exists(target)) throw new Error(`${target} already exists. Choose another name, or remove it.`)
  if (!(await exists(dirname(target)))) throw new Error(`The folder ${dirname(target)} doesn't exist.`)
  await removeAbandoned(target)
  await refuseReadOnly(target)
  const server = await startExisting({ dataDir, ...rest })
  try {
    return await writeBackup({ connectionString: server.connectionString, target, about, signal })
  } finally {
    await server.stop()
  }
}

/** Before the database is started, and in words: later, it would be the error of a temporary file. */
async function refuseReadOnly(target: string): Promise<void> {
  const draft = scratchName(target)
  await writeFile(draft, '', { flag: 'wx' }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(
      `Files can't be created in the folder ${dirname(target)} (${code}). Run this as a user who can, or choose another folder.`,
    )
  })
  await rm(draft)
}

interface Writing extends Pick<BackupOptions, 'about' | 'signal'> {
  connectionString: string
  target: string
}

/** Under another name until it is complete and on the disk. */
async function writeBackup({ connectionString, target, about, signal }: Writing): Promise<number> {
  const client = new pg.Client({ connectionString, application_name: 'inlet backup', keepAlive: true })
  const draft = scratchName(target)
  // A connection that breaks is reported by the next statement: the server ends the backup with it.
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { cluster, postgresql, createdAt } = await describe(client)
    if ((await readdir(join(cluster, 'pg_tblspc'))).length > 0) {
      throw new Error('The database has tablespaces, which a backup would not contain. Use pg_basebackup.')
    }
    const bytes = await clusterSize(cluster)
    await refuseSmallDisk(dirname(target), { bytes, purpose: 'The backup' })
    const header = { format: FORMAT, createdAt, ...about, postgresql, bytes }
    await pipeline(
      packTar(seal(header, backupFiles(client, cluster))),
      // More takes three times as long and saves a tenth.
      createGzip({ level: 1 }),
      createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }),
      { signal },
    )
    await rename(draft, target)
    await syncDirectory(dirname(target))
    return (await stat(target)).size
  } finally {
    await rm(draft, { force: true })
    await client.end().catch(() => undefined)
  }
}

async function describe(client: pg.Client) {
  const { rows } = await client.query<{ cluster: string; postgresql: number; createdAt: Date }>(
    `SELECT current_setting('data_directory') AS cluster, now() AS "createdAt",
            current_setting('server_version_num')::int / 10000 AS postgresql`,
  )
  const [row] = rows
  if (!row) throw new Error('The database did not describe itself.')
  return { ...row, createdAt: row.createdAt.toISOString() }
}

/**
 * The slot keeps the write-ahead log from the start on, however long the copy takes. It and the backup end with the
 * connection, also of a process that is killed.
 */
async function* backupFiles(client: pg.Client, cluster: string): AsyncGenerator<TarEntry> {
  await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [
    `inlet_backup_${randomBytes(8).toString('hex')}`,
  ])
  const started = await client.query<{ segment: string }>(
    `SELECT pg_walfile_name(pg_backup_start('Inlet', true)) AS segment`,
  )
  yield* clusterFiles(cluster)
  // Not waiting for an archive: there is none. The segment before the end of the record is the last one.
  const stopped = await client.query<{ segment: string; label: string }>(
    'SELECT pg_walfile_name(lsn - 1) AS segment, labelfile AS label FROM pg_backup_stop(false)',
  )
  yield entryOf(`${PREFIX}backup_label`, Buffer.from(stopped.rows[0]?.label ?? ''))
  yield* logSegments(cluster, { first: started.rows[0]?.segment ?? '', last: stopped.rows[0]?.segment ?? '' })
}

async function* logSegments(
  cluster: string,
  { first, last }: { first: string; last: string },
): AsyncGenerator<TarEntry> {
  const names = await readdir(join(cluster, LOG_DIRECTORY))
  const needed = names.filter((name) => SEGMENT.test(name) && name >= first && name <= last).sort()
  if (needed.length !== numberOf(last) - numberOf(first) + 1) {
    throw new Error('The write-ahead log of the backup is incomplete.')
  }
  for (const name of needed) yield* clusterFile(cluster, `${LOG_DIRECTORY}/${name}`)
}

const LOG_DIRECTORY = 'pg_wal'
/** Timeline, file, and segment: eight hexadecimal digits each. */
const SEGMENT = /^[0-9A-F]{24}$/
const SEGMENTS_PER_FILE = 256

const numberOf = (segment: string) =>
  Number.parseInt(segment.slice(8, 16), 16) * SEGMENTS_PER_FILE + Number.parseInt(segment.slice(16), 16)
