import { createReadStream } from 'node:fs'
import { chown, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { concat, type TarEntry, unpackTar } from '../../lib/tar.ts'
import { type BackupHeader, unseal } from './backup-format.ts'
import { type Binaries, locateBinaries, prepareBinaries } from './binaries.ts'
import { PASSWORD_FILE } from './cluster.ts'
import { PREFIX } from './cluster-files.ts'
import { type DataLocation, linkData, locateData } from './data-location.ts'
import { refuseSmallDisk } from './disk-space.ts'
import { isLocked } from './folder-lock.ts'
import { isUsedByAnotherHost } from './heartbeat.ts'
import type { EmbeddedOptions } from './index.ts'
import { readLockFile } from './lock-file.ts'
import { movedName, RESTORED_FILE } from './restored.ts'
import type { Account } from './run.ts'
import { type Cluster, reachServer, stopServer } from './server.ts'
import { buildDirectory, exists, removeAbandoned } from './staging.ts'

interface RestoreOptions extends Pick<EmbeddedOptions, 'dataDir' | 'log' | 'settings'> {
  /** A backup made by `backUp`. */
  file: string
  /** Whether a database that is there is renamed, instead of refusing. */
  movesExisting: boolean
  /** Aborts it, and leaves everything as it was. */
  signal?: AbortSignal | undefined
}

interface Restored {
  header: BackupHeader
  /** Where the database that was there is now. */
  movedTo: string | undefined
}

/**
 * Makes the embedded database from a backup, whole or not at all: its files are checked, and a server recovers and stops
 * on them, before they get their place.
 * @throws Error with sentences that say what failed
 */
export async function restore({ dataDir, file, movesExisting, ...rest }: RestoreOptions): Promise<Restored> {
  const { log, settings = {}, signal } = rest
  const location = await locateData(resolve(dataDir), log)
  const { cluster, account } = location
  await refuseInUse(cluster, { movesExisting })
  await removeAbandoned(cluster)
  const binaries = await prepareBinaries(locateBinaries(), { account, copies: location.copies, log })
  let header: BackupHeader | undefined
  let movedTo: string | undefined
  await buildDirectory(cluster, {
    marker: RESTORED_FILE,
    fill: async (scratch) => {
      const data = join(scratch, 'data')
      if (account) await chown(scratch, account.uid, account.gid)
      header = await extract(file, { directory: data, account, major: binaries.major, signal })
      await recover({ data, location, binaries, settings, log })
      await writeFile(join(data, RESTORED_FILE), '', { mode: 0o600, flush: true })
      signal?.throwIfAborted()
      // Again, because Inlet may have been started meanwhile.
      if (await refuseInUse(cluster, { movesExisting })) {
        const moved = movedName(cluster)
        await rename(cluster, moved)
        movedTo = moved
      }
      return data
    },
  }).catch(async (error: unknown) => {
    if (movedTo && !(await exists(cluster))) await rename(movedTo, cluster)
    throw error
  })
  await linkData(location)
  if (!header) throw new Error(`${file} was not read.`)
  return { header, movedTo }
}

/** Returns whether there is a database that is to be moved. */
async function refuseInUse(
  cluster: string,
  { movesExisting }: Pick<RestoreOptions, 'movesExisting'>,
): Promise<boolean> {
  const lock = await readLockFile(cluster)
  const isRunning =
    lock?.server || (await isLocked(cluster)) || (lock && (await isUsedByAnotherHost(cluster)))
  if (isRunning) {
    throw new Error(`The database in ${cluster} is running. Stop Inlet first.`)
  }
  const isTaken = await exists(join(cluster, 'PG_VERSION'))
  if (isTaken && !movesExisting) {
    throw new Error(
      `There is already a database in ${cluster}. To rename it and restore in its place, add --move-existing.`,
    )
  }
  return isTaken
}

interface Extraction {
  directory: string
  account: Account | undefined
  /** The version of PostgreSQL that will read the files. */
  major: number
  signal: AbortSignal | undefined
}

async function extract(file: string, { signal, ...into }: Extraction): Promise<BackupHeader> {
  let header: BackupHeader | undefined
  try {
    await pipeline(
      createReadStream(file),
      createGunzip(),
      async (bytes: AsyncIterable<Buffer>) => {
        const sealed = await unseal(unpackTar(bytes))
        header = sealed.header
        await refuseUnsuitable(header, into)
        for await (const entry of sealed.files) await store(entry, into)
      },
      { signal },
    )
  } catch (error) {
    const { message, code = '' } = error as NodeJS.ErrnoException
    const reason = code.startsWith('Z_') ? 'It is damaged, incomplete, or not a backup.' : message
    throw new Error(`${file} cannot be restored. ${reason}`, { cause: error })
  }
  if (!header) throw new Error(`${file} cannot be restored. It is empty.`)
  return header
}

async function refuseUnsuitable(
  { postgresql, version, bytes }: BackupHeader,
  { directory, major }: Pick<Extraction, 'directory' | 'major'>,
): Promise<void> {
  if (postgresql !== major) {
    throw new Error(
      `It was made by Inlet ${version} with PostgreSQL ${postgresql}, and this version has PostgreSQL ${major}. Restore it with Inlet ${version}.`,
    )
  }
  await refuseSmallDisk(dirname(directory), { bytes, purpose: 'Its data' })
}

async function store(
  { path, content }: TarEntry,
  { directory, account }: Pick<Extraction, 'directory' | 'account'>,
): Promise<void> {
  const names = path.split('/')
  if (!path.startsWith(PREFIX) || names.includes('..'))
    throw new Error(`It has a file that is not expected: ${path}`)
  const target = join(directory, path.slice(PREFIX.length))
  if (path.endsWith('/')) {
    await concat(content)
    await mkdir(target, { mode: 0o700 })
  } else await writeFile(target, content, { mode: 0o600, flag: 'wx' })
  if (account) await chown(target, account.uid, account.gid)
}

interface Recovery extends Pick<Cluster, 'binaries' | 'settings'> {
  data: string
  location: DataLocation
  binaries: Binaries
  log: EmbeddedOptions['log']
}

/** The server's first start reads backup_label, and fails unless all of the write-ahead log is there. */
async function recover({ data, location, binaries, settings, log }: Recovery): Promise<void> {
  const cluster: Cluster = {
    location: { ...location, cluster: data },
    binaries,
    credentials: { password: '', cluster: data },
    settings,
  }
  try {
    cluster.credentials.password = (await readFile(join(data, PASSWORD_FILE), 'utf8')).trim()
    const { client } = await reachServer(cluster, { log })
    await client.end()
  } catch (error) {
    throw new Error(`PostgreSQL cannot use the files of the backup: ${(error as Error).message}`, {
      cause: error,
    })
  } finally {
    await stopServer(cluster)
  }
  if (await readLockFile(data)) throw new Error('PostgreSQL did not stop after it recovered the backup.')
}
