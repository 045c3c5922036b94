import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: ((options?: { type: 'minor' }) => void) | undefined

/**
 * Runs garbage collection now: V8 delays it while the heap may grow, but the process shares its memory. It blocks for
 * about 50 ms, so it is only for rare work that leaves tens of megabytes behind.
 */
export function collectGarbage(): void {
  collector()()
}

/**
 * The same for what was allocated last: the copies of a statement of megabytes, for one. It blocks for about 1 ms. V8
 * alone lets 64 MB of buffers accumulate first.
 */
export function collectRecentGarbage(): void {
  collector()({ type: 'minor' })
}

function collector() {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as NonNullable<typeof collect>
  }
  return collect
}
