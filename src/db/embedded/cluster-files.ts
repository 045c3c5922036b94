import type { Dirent } from 'node:fs'
import { type FileHandle, open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TarEntry } from '../../lib/tar.ts'
import { entryOf } from './backup-format.ts'
import { LOCK_NAME } from './folder-lock.ts'
import { HEARTBEAT_NAME } from './heartbeat.ts'
import { RESTORED_FILE } from './restored.ts'

/** How the paths of the database's files begin in an archive. */
export const PREFIX = 'postgres/'

/** A file as an archive has it, at `path` below `cluster`. Nothing if it is gone. */
export async function* clusterFile(cluster: string, path: string): AsyncGenerator<TarEntry> {
  const handle = await open(join(cluster, path)).catch(ignoreMissing)
  if (!handle) return
  try {
    const { size } = await handle.stat()
    yield { path: PREFIX + path, size, content: contentOf(handle, size) }
  } finally {
    await handle.close()
  }
}

/**
 * The files and directories of a running server's data directory that PostgreSQL's documentation says a backup needs,
 * but for the write-ahead log, while the server changes them.
 */
export async function* clusterFiles(cluster: string): AsyncGenerator<TarEntry> {
  yield* filesBelow('')
  yield* controlFile(cluster)

  async function* filesBelow(directory: string): AsyncGenerator<TarEntry> {
    yield entryOf(PREFIX + directory, Buffer.alloc(0))
    if (EMPTIED.includes(directory)) return
    for (const entry of await readdir(join(cluster, directory), { withFileTypes: true }).catch(noEntries)) {
      const path = directory + entry.name
      if (isOmitted(entry, path)) continue
      if (entry.isDirectory() || EMPTIED.includes(`${path}/`)) yield* filesBelow(`${path}/`)
      else yield* clusterFile(cluster, path)
    }
  }
}

/** What its files take, in bytes; they may become fewer or more at any time. */
export async function clusterSize(cluster: string): Promise<number> {
  let bytes = 0
  // Not with `recursive`, which fails if a directory of temporary files is gone.
  for (const entry of await readdir(cluster, { withFileTypes: true }).catch(noEntries)) {
    const path = join(cluster, entry.name)
    if (entry.isDirectory()) bytes += await clusterSize(path)
    else if (entry.isFile()) bytes += (await stat(path).catch(ignoreMissing))?.size ?? 0
  }
  return bytes
}

/** Of these only the directory is needed. */
const EMPTIED = [
  'pg_dynshmem/',
  'pg_notify/',
  'pg_replslot/',
  'pg_serial/',
  'pg_snapshots/',
  'pg_stat_tmp/',
  'pg_subtrans/',
  'pg_wal/',
]

const CONTROL_FILE = 'global/pg_control'

const OMITTED = [
  'backup_label',
  'backup_label.old',
  HEARTBEAT_NAME,
  LOCK_NAME,
  'postmaster.opts',
  'server.log',
  'server.log.1',
  RESTORED_FILE,
  CONTROL_FILE,
]

/** Temporary files, files of temporary tables, and caches that a server writes anew. */
const TEMPORARY = /^(pgsql_tmp|pg_internal\.init|postmaster\.pid)|^t\d+_\d+(_[a-z]+)?(\.\d+)?$/

const isOmitted = ({ name }: Dirent, path: string) => OMITTED.includes(path) || TEMPORARY.test(name)

const CHUNK_BYTES = 256 << 10

/** What was appended since is in the write-ahead log, and so is the change that removed the rest: it is read as zeros. */
async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < size; ) {
    const buffer = Buffer.alloc(Math.min(CHUNK_BYTES, size - position))
    const { bytesRead } = await handle.read({ buffer, position })
    const piece = bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead)
    position += piece.length
    yield piece
  }
}

/** The server overwrites it in place, and nothing repairs a half-written one: read until two reads are the same. */
async function* controlFile(cluster: string): AsyncGenerator<TarEntry> {
  let content = await readFile(join(cluster, CONTROL_FILE))
  for (let last = Buffer.alloc(0); !content.equals(last); ) {
    await sleep(CONTROL_FILE_PAUSE_MS)
    last = content
    content = await readFile(join(cluster, CONTROL_FILE))
  }
  yield entryOf(PREFIX + CONTROL_FILE, content)
}

const CONTROL_FILE_PAUSE_MS = 20

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function noEntries(error: NodeJS.ErrnoException): Dirent[] {
  ignoreMissing(error)
  return []
}
