import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { outputOf } from './commands.ts'
import { send } from './inlet-process.ts'

export interface NpmProcess {
  process: ChildProcess
  /** All it has written so far. */
  output(): string
  ended: Promise<{ code: number | null; output: string }>
}

interface NpmOptions {
  env?: Record<string, string>
  user?: { uid?: number; gid?: number }
  /** In a process group of its own, which `killGroup` kills. */
  isGroup?: boolean
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const processes: NpmProcess[] = []

/** Runs npm in this folder, as an operator does. */
export function spawnNpm(
  words: string[],
  { env = {}, user = {}, isGroup = false }: NpmOptions = {},
): NpmProcess {
  const home = env.DATA_DIR ?? '/nonexistent'
  const child = spawn('npm', words, {
    ...user,
    cwd: ROOT,
    detached: isGroup,
    // Nothing of the npm that runs the tests.
    env: {
      PATH: process.env.PATH,
      HOME: home,
      npm_config_cache: `${home}/npm`,
      npm_config_update_notifier: 'false',
      PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const npm = { process: child, ...outputOf(child) }
  processes.push(npm)
  return npm
}

/** The address that `npm start` prints once it listens. */
export async function addressOf({ output, ended }: NpmProcess): Promise<string> {
  const find = () => /^Inlet is running at (\S+)\/$/m.exec(output())?.[1]
  const failed = ended.then(({ output }) => {
    throw new Error(`It ended before it listened:\n${output}`)
  })
  await Promise.race([expect.poll(find, { timeout: 60_000 }).toBeDefined(), failed])
  return find() ?? ''
}

/** The admin key that the first start, and `npm run keys`, print. */
export const adminKeyIn = (output: string) =>
  /^Admin key \(shown only once\):\n {2}(inl_\S+)$/m.exec(output)?.[1] ?? ''

/** As a supervisor does. */
export async function stop({ process, ended }: NpmProcess): Promise<void> {
  process.kill('SIGTERM')
  await ended
}

/** SIGKILL for npm and all that it started. */
export async function killGroup({ process: { pid }, ended }: NpmProcess): Promise<void> {
  if (pid) send(-pid, 'SIGKILL')
  await ended
}

/** What is left of all of them. */
export function killNpm(): void {
  for (const { process } of processes.splice(0)) {
    if (process.exitCode !== null || process.signalCode !== null) continue
    process.kill('SIGKILL')
    if (process.pid) send(-process.pid, 'SIGKILL')
  }
}
