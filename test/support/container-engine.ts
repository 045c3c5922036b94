import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

interface Ended {
  code: number
  output: string
}

/** Runs `docker` in the folder of the Dockerfile. */
export function docker(...words: string[]): Promise<Ended> {
  return run(words)
}

/** Whether `docker` is installed, and its engine runs. */
export async function hasEngine(): Promise<boolean> {
  return (await run(['info'], { timeout: 10_000 })).code === 0
}

function run(words: string[], options = {}): Promise<Ended> {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  return new Promise((resolve) => {
    const child = execFile('docker', words, { cwd, ...options }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? NOT_RUN, output: `${stdout}${stderr}` })
    })
  })
}

/** As a shell says of a program that is not there. */
const NOT_RUN = 127
