import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from './compile-cache.ts'
import { temporaryRoot } from './postgres-server.ts'

/** The real thing: `node src/server.ts`. */
export interface Inlet {
  process: ChildProcess
  /** Where it listens; rejects when it ends before it does. */
  url: Promise<string>
  ended: Promise<Ending>
  /** All it has written so far, log and words. */
  output(): string
}

interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
  ms: number
}

interface SpawnOptions {
  dataDir?: string
  env?: Record<string, string>
  /** In a process group of its own, as on a terminal. */
  isGroup?: boolean
  /** A program, with its first arguments, that becomes Inlet. */
  wrapper?: string[]
}

/** Valid from the first start on. */
export const ADMIN_KEY = `test-admin-${randomBytes(16).toString('hex')}`

export function spawnInlet({ dataDir, env = {}, isGroup = false, wrapper = [] }: SpawnOptions): Inlet {
  const [program = '', ...args] = [...wrapper, process.execPath, 'src/server.ts']
  const child = spawn(program, args, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    detached: isGroup,
    env: {
      PATH: process.env.PATH,
      ...COMPILE_CACHE,
      PORT: '0',
      BOOTSTRAP_API_KEY: ADMIN_KEY,
      RATE_LIMIT_PER_MINUTE: '0',
      ...(dataDir && { DATA_DIR: dataDir }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let written = ''
  const listening = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      written += text
      const address = /^Inlet is running at (\S+)\/$/m.exec(written)?.[1]
      if (address) listening.resolve(address)
    })
  }
  const since = performance.now()
  const ended = new Promise<Ending>((resolve) => {
    child.once('close', (code, signal) => {
      listening.reject(new Error(`Inlet ended before it listened:\n${written}`))
      resolve({ code, signal, ms: performance.now() - since })
    })
  })
  listening.promise.catch(() => undefined)
  return { process: child, url: listening.promise, ended, output: () => written }
}

/** A path for DATA_DIR, not made yet; `cleanUp` removes it. */
export async function newDataDir(): Promise<string> {
  const directory = await mkdtemp(join(await temporaryRoot(), 'inlet-faults-'))
  directories.push(directory)
  // As root, PostgreSQL runs as another user, and would keep its data elsewhere if that could not pass.
  await chmod(directory, 0o711)
  return join(directory, 'data')
}

/** What is left of the file's processes, servers and folders. */
export async function cleanUp(): Promise<void> {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  }
  for (const directory of directories.splice(0)) {
    const dataDir = join(directory, 'data')
    const cluster = await realpath(join(dataDir, 'postgres')).catch(() => undefined)
    await killServer(dataDir)
    if (cluster && !cluster.startsWith(await realpath(directory)))
      await rm(dirname(cluster), { recursive: true, force: true })
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Of the embedded server; undefined when none runs. */
export async function serverPid(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  return pid > 0 && isAlive(pid) ? pid : undefined
}

/** SIGKILL for PostgreSQL and everything it has started, as by the kernel when memory runs out. */
export async function killServer(dataDir: string): Promise<void> {
  const pid = await signalServer(dataDir, 'SIGKILL')
  while (pid && isAlive(pid)) await sleep(5)
}

/** For PostgreSQL and everything it has started. SIGSTOP makes it silent: it runs and sends nothing. */
export async function signalServer(dataDir: string, signal: NodeJS.Signals): Promise<number | undefined> {
  const pid = await serverPid(dataDir)
  if (!pid) return undefined
  for (const each of [pid, ...childrenOf(pid)]) send(each, signal)
  return pid
}

/** A way around Inlet into its embedded database. */
export async function connectionStringOf(dataDir: string): Promise<string> {
  const cluster = join(dataDir, 'postgres')
  const password = await readFile(join(cluster, 'inlet.password'), 'utf8')
  const port = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[3]
  return `postgresql://inlet:${password.trim()}@127.0.0.1:${port}/inlet`
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It was faster.
  }
}

const children: ChildProcess[] = []
const directories: string[] = []

export function childrenOf(pid: number): number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number)
  } catch {
    return []
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
