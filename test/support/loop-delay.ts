import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Inlet } from './inlet-process.ts'

/** For the environment of a process whose event loop is to be watched. */
export const WATCHED = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./watch-loop.ts', import.meta.url))}`,
}

/** For how long the event loop of a watched process was blocked at most while the work was done, in milliseconds. */
export async function loopDelayOf<T>(inlet: Inlet, work: () => Promise<T>) {
  await delaySinceLast(inlet)
  const result = await work()
  return { result, delay: await delaySinceLast(inlet) }
}

async function delaySinceLast(inlet: Inlet): Promise<number> {
  const reports = () => [...inlet.output().matchAll(/^loop delay ([\d.]+)$/gm)]
  const before = reports().length
  inlet.process.kill('SIGWINCH')
  while (reports().length === before) {
    if (inlet.process.exitCode !== null) throw new Error('The process has ended.')
    await sleep(5)
  }
  return Number(reports().at(-1)?.[1])
}
