import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Inlet } from './inlet-process.ts'

/** For the environment of a process whose event loop is to be watched. */
export const WATCHED = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./watch-loop.ts', import.meta.url))}`,
}

/** For how long the event loop of a watched process was blocked at most while the work was done, in milliseconds. */
async function loopDelayOf<T>(inlet: Inlet, work: () => Promise<T>) {
  await delaySinceLast(inlet)
  const result = await work()
  return { result, delay: await delaySinceLast(inlet) }
}

/** For how long one request may block the event loop. */
const MAX_DELAY_MS = 50

/** Expects one of up to three runs to stay within the bound: on a busy machine, garbage collection waits for its helpers. */
export async function boundedDelay<T>(inlet: Inlet, work: () => Promise<T>): Promise<T> {
  const delays: number[] = []
  for (let run = 0; run < 3; run++) {
    const { result, delay } = await loopDelayOf(inlet, work)
    if (delay <= MAX_DELAY_MS) return result
    delays.push(delay)
  }
  throw new Error(`The event loop was blocked for ${delays.join(', ')} ms.`)
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
