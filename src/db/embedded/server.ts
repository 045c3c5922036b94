import { statfsSync } from 'node:fs'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { isDamaged } from '../database-error.ts'
import type { Binaries } from './binaries.ts'
import type { DataLocation } from './data-location.ts'
import { LOCKED, underLock } from './folder-lock.ts'
import { isUsedByAnotherHost } from './heartbeat.ts'
import { type Credentials, connect, isNotReadyYet, isRefusal } from './lease.ts'
import { discardDeadLock, readLockFile } from './lock-file.ts'
import { killOrphans } from './orphans.ts'
import { crashReason, damaged, diskFull, startRefusal } from './refusals.ts'
import { ABORTED, run } from './run.ts'

export interface Cluster {
  location: DataLocation
  binaries: Binaries
  credentials: Credentials
  settings: Record<string, string>
}

interface Log {
  info(obj: object, msg: string): void
  warn(obj: object, msg: string): void
}

interface ReachOptions {
  log: Log
  /** The required port, as connection strings contain it. Absent: any port. */
  port?: number | undefined
  /** Aborts waiting. */
  signal?: AbortSignal | undefined
  /** Called while the server starts, in each attempt. */
  onStarting?: (() => void) | undefined
  /** Where to begin to read the server's log for crashes: at `logSize` before these. Absent: at its end. */
  logFrom?: number | undefined
}

/**
 * Connects to the server of this data directory, and starts it if none runs. If the disk is full and the server has
 * run before, waits for space: a failure would not help. A server that it started and cannot use is stopped again.
 * @throws Error with a sentence, after three failed starts
 */
export async function reachServer(
  cluster: Cluster,
  options: ReachOptions,
): Promise<{ client: Client; port: number; isStarted: boolean }> {
  const attempt = { isStarted: false }
  try {
    return await reach(cluster, { ...options, attempt })
  } catch (error) {
    if (attempt.isStarted) {
      if (options.signal?.aborted) await lockFileWritten(cluster.location.cluster)
      await stopServer(cluster, UNUSED_STOP)
    }
    throw error
  }
}

interface Attempt {
  /** Whether a server was started, even if it did not become ready. */
  isStarted: boolean
}

/** The server writes it first of all; a start that was aborted may have come before that. */
async function lockFileWritten(cluster: string): Promise<void> {
  for (const deadline = Date.now() + LOCK_FILE_MS; Date.now() < deadline; await sleep(STOP_POLL_MS)) {
    if ((await readLockFile(cluster))?.server) return
  }
}

async function reach(
  cluster: Cluster,
  { log, port: required, signal, onStarting, logFrom, attempt }: ReachOptions & { attempt: Attempt },
) {
  const { location, credentials } = cluster
  const uid = location.account?.uid
  let problem = 'its server did not respond'
  let lastChance = Date.now() + DEADLINE_MS
  let nextWarning = Date.now() + WARN_EVERY_MS
  let failedStarts = 0
  let lockedUntil: number | undefined
  let isFirstTry = true
  const from = logFrom ?? (await logSize(location.cluster))
  while (Date.now() < lastChance) {
    signal?.throwIfAborted()
    let pauseMs = RETRY_MS
    const lock = await readLockFile(location.cluster)
    if (lock?.server) {
      const { port } = lock.server
      if (required !== undefined && port !== required) {
        throw new Error(`its server was started on port ${port} instead of ${required} meanwhile`)
      }
      const crash = crashReason(await readLog(location.cluster, from))
      if (crash !== undefined) throw new Error(damaged(location.cluster, crash))
      const outcome = await connect(port, credentials)
      if ('client' in outcome) return { client: outcome.client, port, isStarted: attempt.isStarted }
      const { message } = outcome.error
      problem = `its server did not respond: ${message}`
      if (isDamaged(outcome.error)) throw new Error(damaged(location.cluster, message))
      if (isRefusal(outcome.error)) break
      // Crash recovery takes an unknown time; it and a shutdown end by themselves.
      if (isNotReadyYet(outcome.error)) lastChance = Date.now() + DEADLINE_MS
    } else {
      // A clean stop leaves no lock file.
      if (lock && isFirstTry && (await isUsedByAnotherHost(location.cluster)))
        throw new Error(inUse(location.cluster))
      isFirstTry = false
      const output = await start(cluster, { port: required, onStarting, signal })
      attempt.isStarted ||= output === undefined || output === ABORTED || TOO_SLOW.test(output)
      if (output === undefined) continue
      const refusal = startRefusal({ output, cluster: location.cluster, uid })
      problem = refusal.text
      if (output.startsWith(LOCKED)) {
        // A server that starts or stops in this container is visible, or gone, before the deadline.
        lockedUntil ??= Date.now() + LOCKED_MS
        if (Date.now() > lockedUntil) throw new Error(inUse(location.cluster))
        await killOrphans(location.cluster)
      } else if (lock && HAS_LOCK_FILE.test(output)) await discardDeadLock(location.cluster, lock)
      else if (IN_USE.test(output)) await killOrphans(location.cluster)
      else if (required !== undefined && (NO_SPACE.test(output) || hasNoSpace(location.cluster))) {
        problem = diskFull(location.cluster)
        lastChance = Date.now() + DEADLINE_MS
        pauseMs = SPACE_RETRY_MS
      } else if (!HAS_LOCK_FILE.test(output) && !PASSING.test(output)) {
        if (refusal.isFinal || ++failedStarts === MAX_FAILED_STARTS) break
        if (required !== undefined) pauseMs = FAILED_RESTART_PAUSE_MS
      }
    }
    if (Date.now() > nextWarning) {
      log.warn({ dataDir: location.cluster, problem }, 'waiting for the embedded database')
      nextWarning = Date.now() + WARN_EVERY_MS
    }
    await sleep(pauseMs, undefined, { signal })
  }
  throw new Error(problem)
}

/**
 * Stops the server in fast mode: open transactions are rolled back. What has not ended by then is stopped as by a crash.
 * Returns false if it did not end.
 */
export async function stopServer({ location, binaries }: Cluster, steps = STOP): Promise<boolean> {
  const before = await readLockFile(location.cluster)
  if (!before?.server) return true
  for (const { mode, waitMs } of steps) {
    await run(binaries.pgCtl, {
      args: ['stop', '-D', '.', '-m', mode, '-W', '-s'],
      account: location.account,
      cwd: location.cluster,
    })
    // Not pg_ctl's own wait: it would mistake a server that another process starts right afterwards for this one.
    for (const deadline = Date.now() + waitMs; Date.now() < deadline; await sleep(STOP_POLL_MS)) {
      if ((await readLockFile(location.cluster))?.server?.pid !== before.server.pid) return true
    }
  }
  return false
}

const DEADLINE_MS = 30_000
const WARN_EVERY_MS = 5_000
const RETRY_MS = 50
const LOCK_FILE_MS = 2_000
const MAX_FAILED_STARTS = 3
const FAILED_RESTART_PAUSE_MS = 1_000
const LOCKED_MS = 5_000
const SPACE_RETRY_MS = 1_000
// A checkpoint of a slow disk takes long, and is worth its time: the next start needs no recovery.
const STOP = [
  { mode: 'fast', waitMs: 60_000 },
  { mode: 'immediate', waitMs: 10_000 },
]
/** Of a server that nobody has used. A damaged one can hang for a minute after it has crashed. */
export const UNUSED_STOP = [
  { mode: 'fast', waitMs: 2_000 },
  { mode: 'immediate', waitMs: 10_000 },
]
const STOP_POLL_MS = 10
// Another process was faster, or the port was just taken.
const HAS_LOCK_FILE = /"postmaster\.pid" (already exists|is empty)/
const PASSING = /could not bind|could not create any TCP\/IP sockets/
// pg_ctl waits for ten seconds; the server continues.
const TOO_SLOW = /did not start in time/
// Backends of a killed server are still running or ending.
const IN_USE = /shared memory block/
const NO_SPACE = /No space left on device|Disk quota exceeded/
// A start needs one segment of the write-ahead log.
const NEEDED_BYTES = 16 << 20

const inUse = (cluster: string) =>
  `${cluster} is in use by another container or host: stop Inlet there, or set DATA_DIR to another folder`

const LOG_FILE = 'server.log'
const MAX_LOG_BYTES = 1 << 20
const MAX_READ_BYTES = 32 << 10

// Returns the error text. -D and -l are relative, because pg_ctl writes them into a shell command line in plain double
// quotes, where a $ in a path would be expanded.
async function start(
  { location, binaries, settings }: Cluster,
  { port, onStarting, signal }: Pick<ReachOptions, 'port' | 'onStarting' | 'signal'>,
): Promise<string | undefined> {
  const from = await rotate(location.cluster)
  const options = Object.entries({
    ...SETTINGS,
    ...settings,
    port: String(port ?? (await choosePort(location.cluster))),
  })
    .map(([name, value]) => `-c ${name}=${quoted(value)}`)
    .join(' ')
  const { file, args } = underLock('.', {
    file: binaries.pgCtl,
    args: ['start', '-D', '.', '-l', LOG_FILE, '-w', '-t', '10', '-s', '-o', options],
  })
  const starting = run(file, {
    args,
    account: location.account,
    cwd: location.cluster,
    // On Windows the server inherits our pipe and would keep it open.
    output: process.platform === 'win32' ? 'drop' : 'keep',
    signal,
  })
  onStarting?.()
  const started = await starting
  if (started.output === ABORTED) return ABORTED
  return started.ok ? undefined : `${started.output}\n${await readLog(location.cluster, from)}`.trim()
}

const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // The application logs its own failed statements. Without them and checkpoints the log stays small for years, and
  // contains no task's text.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
}

/** The server's own log is on the same disk, so its message may be missing. */
export function hasNoSpace(cluster: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(cluster)
    return bavail * bsize < NEEDED_BYTES
  } catch {
    return false
  }
}

function quoted(value: string): string {
  return process.platform === 'win32' ? `"${value}"` : `'${value.replaceAll("'", `'\\''`)}'`
}

/** Of the server's log, in bytes. */
export async function logSize(cluster: string): Promise<number> {
  return (await stat(join(cluster, LOG_FILE)).catch(() => undefined))?.size ?? 0
}

async function rotate(cluster: string): Promise<number> {
  const size = await logSize(cluster)
  if (size <= MAX_LOG_BYTES) return size
  const path = join(cluster, LOG_FILE)
  await rename(path, `${path}.1`)
  return 0
}

/** What the server has logged from this position on, or of a log that was rotated since. */
async function readLog(cluster: string, from: number): Promise<string> {
  const handle = await open(join(cluster, LOG_FILE), 'r').catch(() => undefined)
  if (!handle) return ''
  const { size } = await handle.stat()
  const { buffer, bytesRead } = await handle
    .read({ buffer: Buffer.alloc(MAX_READ_BYTES), position: size < from ? 0 : from })
    .finally(() => handle.close())
  return buffer.toString('utf8', 0, bytesRead)
}

// The previous port if it is free: another process may wait for its server there.
async function choosePort(cluster: string): Promise<number> {
  const options = await readFile(join(cluster, 'postmaster.opts'), 'utf8').catch(() => '')
  const last = Number(/"port=(\d+)"/.exec(options)?.[1])
  return last > 0 ? freePort(last).catch(() => freePort(0)) : freePort(0)
}

async function freePort(port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const probe = createServer().once('error', reject)
  probe.listen(port, '127.0.0.1', () => {
    const address = probe.address()
    probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
  })
  return promise
}
