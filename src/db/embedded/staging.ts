import { randomBytes } from 'node:crypto'
import { access, chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { holdLock, isLocked, LOCK_NAME } from './folder-lock.ts'
import { isUsedByAnotherHost } from './heartbeat.ts'

/**
 * Creates `target` completely or not at all: `fill` works in a scratch directory beside it and returns the path of the
 * finished directory, which is renamed. Of concurrent processes the first wins, and the others discard their work.
 * `marker` is a file that only a finished target has.
 */
export async function buildDirectory(
  target: string,
  { marker, fill }: { marker: string; fill(scratch: string): Promise<string> },
): Promise<void> {
  const scratch = scratchName(target)
  building.add(basename(scratch))
  let release: (() => Promise<void>) | undefined
  try {
    await mkdir(scratch, { mode: 0o700 })
    release = await holdLock(scratch)
    const finished = await fill(scratch)
    await rename(finished, target).catch(async (error: unknown) => {
      if (!(await exists(join(target, marker)))) throw error
    })
    await syncDirectory(dirname(target))
  } finally {
    await release?.()
    await remove(scratch)
    building.delete(basename(scratch))
  }
}

/** A name beside `target` for work in progress, which `removeAbandoned` recognizes. */
export function scratchName(target: string): string {
  return `${target}.new-${process.pid}-${randomBytes(4).toString('hex')}`
}

/** Removes what killed processes left under the names of `scratchName`. */
export async function removeAbandoned(target: string): Promise<void> {
  const prefix = `${basename(target)}.new-`
  for (const name of await readdir(dirname(target))) {
    if (!name.startsWith(prefix) || building.has(name)) continue
    const path = join(dirname(target), name)
    if (await isAbandoned(path, Number.parseInt(name.slice(prefix.length), 10))) await remove(path)
  }
}

/** A directory that every user may enter, also under umask 077. An existing one keeps its mode if it is open. */
export async function makeOpenDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true })
  const { mode } = await stat(path)
  if ((mode & 0o011) !== 0o011) await chmod(path, 0o755)
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const building = new Set<string>()
const MAX_BUILD_MS = 10 * 60_000
const LOCKING_MS = 10_000

// A new container reuses the same small pids, so a live pid, even one's own, does not identify the owner. Where it is
// dead, the owner of a folder may live in another container, and has the lock or is about to take it, or on another host.
async function isAbandoned(path: string, pid: number): Promise<boolean> {
  const made = await stat(path).catch(() => undefined)
  if (!made || (await isLocked(path)) || (await isUsedByAnotherHost(path))) return false
  const ageMs = Date.now() - made.mtimeMs
  if (pid !== process.pid && isAlive(pid)) return ageMs > MAX_BUILD_MS
  return made.isFile() || ageMs > LOCKING_MS || (await exists(join(path, LOCK_NAME)))
}

// An initdb whose parent was killed may still be writing there: retry.
function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

/** So that a rename in it survives a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
