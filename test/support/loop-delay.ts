import { fileURLToPath } from 'node:url'
import type { Inlet } from './inlet-process.ts'
import { reportedNumber } from './reported-number.ts'

const WATCHERS = [new URL('./watch-loop.ts', import.meta.url), new URL('./watch-memory.ts', import.meta.url)]

/** For the environment of a process whose event loop and memory are to be watched. */
export const WATCHED = {
  NODE_OPTIONS: WATCHERS.map((url) => `--import=${fileURLToPath(url)}`).join(' '),
}

/** For how long the event loop of a watched process was blocked at most while the work was done, in milliseconds. */
async function loopDelayOf<T>(inlet: Inlet, work: () => Promise<T>) {
  await delaySinceLast(inlet)
  const result = await work()
  return { result, delay: await delaySinceLast(inlet) }
}

/** For how long one request may block the event loop on any machine. */
const MAX_DELAY_MS = 50

/** The same on a machine that is slow now. */
const maxDelayNowMs = () => Math.max(MAX_DELAY_MS, 8 * fastestParse())

/** How long a body of 1 MiB takes to parse: 6 ms on a machine where 50 ms are enough. */
function fastestParse(): number {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, id) => ({ id, name: `Name of ${id}`, tags: ['a', 'b'] })),
  )
  const times = Array.from({ length: 5 }, () => {
    const since = performance.now()
    JSON.parse(text)
    return performance.now() - since
  })
  return Math.min(...times)
}

/** Expects one of up to three runs to stay within the bound: on a busy machine, garbage collection waits for helpers. */
export async function boundedDelay<T>(inlet: Inlet, work: () => Promise<T>): Promise<T> {
  const delays: number[] = []
  for (let run = 0; run < 3; run++) {
    const { result, delay } = await loopDelayOf(inlet, work)
    if (delay <= MAX_DELAY_MS || delay <= maxDelayNowMs()) return result
    delays.push(delay)
  }
  throw new Error(`The event loop was blocked for ${delays.join(', ')} ms.`)
}

const delaySinceLast = (inlet: Inlet) => reportedNumber(inlet, { signal: 'SIGWINCH', name: 'loop delay' })
