import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { COMPILE_CACHE } from './compile-cache.ts'

/** Of the servers in tests of the embedded database. */
export const SETTINGS = { fsync: 'off', full_page_writes: 'off' }

/** Another Inlet, as far as its database goes. */
export interface InletProcess {
  process: ChildProcess
  connectionString: string
  stop(): Promise<void>
}

/** Resolves when its database is up. */
export async function startProcess(
  dataDir: string,
  user?: { uid: number; gid: number },
): Promise<InletProcess> {
  const child = spawnProcess(dataDir, user)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const connectionString = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()))
    child.once('close', () => reject(new Error('the process ended before its database was up')))
  })
  const stop = () => {
    child.stdin?.write('stop')
    return ended
  }
  return { process: child, connectionString, stop }
}

/** The error with which it ends where process IDs are others, as in another container. */
export async function errorElsewhere(dataDir: string): Promise<string> {
  const args = ['--pid', '--fork', '--mount-proc', process.execPath, '--input-type=module', '--eval', PROCESS]
  const child = spawn('unshare', [...args, dataDir], {
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  processes.push(child)
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  await new Promise((resolve) => child.once('close', resolve))
  return errors
}

/** Does not wait for its database. */
export function spawnProcess(dataDir: string, user: { uid?: number; gid?: number } = {}) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROCESS, dataDir], {
    ...user,
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stderr.pipe(process.stderr)
  processes.push(child)
  return child
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

export async function killProcesses(): Promise<void> {
  for (const child of processes.splice(0)) await kill(child)
}

/** Whether another user can reach this clone and this Node. */
export function canRunAs(uid: number): boolean {
  const paths = [process.execPath, EMBEDDED.pathname]
  return (
    spawnSync('/bin/sh', ['-c', 'test -x "$0" && test -r "$1"', ...paths], { uid, gid: uid }).status === 0
  )
}

const processes: ChildProcess[] = []
const EMBEDDED = new URL('../../src/db/embedded/index.ts', import.meta.url)

const PROCESS = `
  import { startEmbedded } from '${EMBEDDED}'
  const log = { info() {}, warn() {} }
  const server = await startEmbedded({ dataDir: process.argv[1], settings: ${JSON.stringify(SETTINGS)}, log })
  console.log(server.connectionString)
  process.stdin.once('data', () => server.stop().then(() => process.exit()))`
