import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from './compile-cache.ts'

/** `node src/cli.ts`, as the scripts of package.json start it. */
export interface Command {
  process: ChildProcess
  ended: Promise<{ code: number | null; output: string }>
  /** All it has written so far. */
  output(): string
}

interface CommandOptions {
  dataDir?: string
  env?: Record<string, string>
}

export function spawnCommand(words: string[], { dataDir, env = {} }: CommandOptions = {}): Command {
  const child = spawn(process.execPath, ['src/cli.ts', ...words], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...(dataDir && { DATA_DIR: dataDir }), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { process: child, ...outputOf(child) }
}

/** What a process has written so far, to both of its outputs, and how it ended. */
export function outputOf(child: ChildProcessByStdio<null, Readable, Readable>): Omit<Command, 'process'> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, output }))
  })
  return { ended, output: () => output }
}

/** SIGKILL as soon as `isTime`. Rejects if the command ended before. */
export async function killAt({ process, ended }: Command, isTime: () => Promise<boolean>): Promise<void> {
  while (!(await isTime())) {
    if (process.exitCode !== null) throw new Error(`It ended before:\n${(await ended).output}`)
    await sleep(1)
  }
  process.kill('SIGKILL')
  await ended
}
