import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, readlink, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive } from './staging.ts'

/** The content of postmaster.pid. `server` is absent when the server that wrote it no longer runs. */
export interface LockFile {
  text: string
  server: { pid: number; port: number } | undefined
}

/** Undefined when there is no lock file: no server, or one that shut down cleanly. */
export async function readLockFile(cluster: string): Promise<LockFile | undefined> {
  const text = await readFile(join(cluster, LOCK_FILE), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  // pid, data directory, start time, port, socket directory, listen address, shared memory, status
  const lines = text.split('\n')
  const pid = Number(lines[0])
  const port = Number(lines[3])
  return { text, server: pid > 0 && port > 0 && (await isServerOf(cluster, pid)) ? { pid, port } : undefined }
}

/**
 * Removes a lock file that blocks PostgreSQL permanently: its pid now belongs to another program of the same user
 * (pids are reused quickly in a container), or a power failure left it empty. PostgreSQL removes all others itself.
 */
export async function discardDeadLock(cluster: string, lock: LockFile): Promise<void> {
  const path = join(cluster, LOCK_FILE)
  const pid = Number(lock.text.split('\n')[0])
  if (pid > 0 ? !isAlive(pid) : !(await isOlderThan(path, WRITING_MS))) return
  // Renamed before it is checked: another process may have replaced it with a live server's file meanwhile.
  const aside = `${path}.${randomBytes(4).toString('hex')}`
  const isOurs = await rename(path, aside).then(
    () => true,
    () => false,
  )
  if (!isOurs) return
  if ((await readFile(aside, 'utf8')) === lock.text) await rm(aside, { force: true })
  else await rename(aside, path)
}

const LOCK_FILE = 'postmaster.pid'
const WRITING_MS = 2_000

// kill(pid, 0) also succeeds for a zombie, an unrelated process and the server of another data directory, and after a
// reboot or in a new container a pid is soon reused. A server's working directory is its data directory.
async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux' || !existsSync('/proc/self/cmdline')) return true
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  // Root in a container may not read other users' cwd, but everyone's command line.
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return (directory ?? cluster) === cluster && /(^|\/)postgres(\0|:|$)/.test(commandLine)
}

async function isOlderThan(path: string, ms: number): Promise<boolean> {
  const file = await stat(path).catch(() => undefined)
  return file !== undefined && Date.now() - file.mtimeMs > ms
}
