import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

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
    env: { PATH: process.env.PATH, ...(dataDir && { DATA_DIR: dataDir }), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, output }))
  })
  return { process: child, ended, output: () => output }
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
