import { userInfo } from 'node:os'

/** What only a restore mends, as it continues every message about it. It never deletes these files. */
const RESTORE =
  'restore a backup in its place with npm run restore -- BACKUP --move-existing, which keeps the damaged files: see "Back up and restore" in docs/operating.md'

/** What PostgreSQL says of files that it can open and not use. */
const DAMAGED =
  /checkpoint record|incorrect checksum|checksum does not match|database files are incompatible|invalid (page|magic|data|content)|corrupt|could not (open|read|stat|access) (file|status)|could not find the database system|unexpected (data|eof)|not a valid data directory|invalid redo|relation mapping|contains errors|PANIC/i
const DENIED = /Permission denied|has wrong ownership|has invalid permissions|Operation not permitted/
const READ_ONLY = /Read-only file system/
const SCARCE = /Too many open files|Cannot allocate memory/
const FULL = /No space left on device|Disk quota exceeded/

/** Without hints: PostgreSQL's would delete the data, and without times, processes, and pg_ctl's own lines. */
function reasonIn(output: string): string {
  const lines = output.split('\n').map((line) => line.trim())
  const severe = lines.filter((line) => /\b(FATAL|PANIC|ERROR): /.test(line))
  const found =
    severe.at(0) ?? lines.find((line) => line !== '' && !/^pg_ctl:|^Examine|\bLOG: |HINT: /.test(line))
  return (found ?? 'it gave no reason').replace(/^.*?\b(FATAL|PANIC|ERROR): +/, '')
}

/**
 * Why a server crashed, by its log, if that is because it cannot read its own files. It would restart without end, and
 * can take a minute for each time.
 */
export function crashReason(log: string): string | undefined {
  if (!log.includes('terminating any other active server processes')) return undefined
  const damage = log
    .split('\n')
    .findLast(
      (line) =>
        /\b(FATAL|PANIC): /.test(line) && DAMAGED.test(line) && !FULL.test(line) && !SCARCE.test(line),
    )
  return damage === undefined ? undefined : reasonIn(damage)
}

interface StartFailure {
  /** What pg_ctl and the server wrote. */
  output: string
  cluster: string
  /** The id of the user that PostgreSQL runs as; undefined for the one of this process. */
  uid: number | undefined
}

/** Why a server does not start, as a sentence with the one thing to do. */
export function startRefusal({ output, cluster, uid }: StartFailure): { text: string; isFinal: boolean } {
  const reason = reasonIn(output)
  const owner = uid === undefined ? userName() : `the user with id ${uid}`
  if (READ_ONLY.test(output)) return { text: readOnly(cluster), isFinal: true }
  if (FULL.test(output)) return { text: diskFull(cluster), isFinal: false }
  if (DENIED.test(output)) {
    const text = `files in ${cluster} do not belong to ${owner}, who runs PostgreSQL (${reason}): run chown -R ${uid ?? process.getuid?.() ?? ''} ${cluster}`
    return { text, isFinal: true }
  }
  if (DAMAGED.test(output)) return { text: damaged(cluster, reason), isFinal: false }
  return { text: `its server did not start: ${reason}. Its log is ${cluster}/server.log`, isFinal: false }
}

export const damaged = (cluster: string, reason: string) =>
  `the database in ${cluster} is damaged (${reason}): ${RESTORE}`

export const diskFull = (folder: string) =>
  `the disk of ${folder} is full (no space left on the disk): free some space, and start Inlet again`

const readOnly = (folder: string) =>
  `the file system of ${folder} is read-only: mount it writable, or set DATA_DIR to a folder that is`

const noFolder = (path: string) =>
  `${path} is a file or a link to nothing, is below one, or is on a read-only file system: set DATA_DIR to a folder that can be written`

/** An error of the file system as a sentence with the one thing to do; others as they are. */
export function explainFileError(error: unknown, folder: string): unknown {
  const { code, path = folder, syscall } = error as NodeJS.ErrnoException
  // Folders above one that is made are made, too, unless a link is in the way.
  const text = syscall === 'mkdir' && code === 'ENOENT' ? noFolder(path) : sentenceOf(code, path)
  return text === undefined ? error : new Error(text, { cause: error })
}

function sentenceOf(code: string | undefined, path: string): string | undefined {
  if (code === 'EEXIST' || code === 'ENOTDIR') return noFolder(path)
  if (code === 'EACCES' || code === 'EPERM') {
    return `${userName()} may not use ${path}: run Inlet as the user that owns it, or set DATA_DIR to a folder of that user`
  }
  if (code === 'EROFS') return readOnly(path)
  return code === 'ENOSPC' || code === 'EDQUOT' ? diskFull(path) : undefined
}

/** The name is missing for a user that a container made up. */
function userName(): string {
  const id = process.getuid?.()
  try {
    return `the user ${userInfo().username}${id === undefined ? '' : ` (id ${id})`}`
  } catch {
    return `the user with id ${id}`
  }
}
