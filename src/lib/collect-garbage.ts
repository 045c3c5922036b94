import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

interface Collection {
  type: 'minor' | 'major'
  flavor?: 'last-resort'
  execution?: 'sync'
}

let collect: ((options?: Collection) => void) | undefined

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

/**
 * The same, also for compiled code that has not run lately: after the start, 18 MB of what only the start needed. It blocks
 * for about 90 ms.
 */
export function collectCodeAndGarbage(): void {
  collector()({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}

function collector() {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as NonNullable<typeof collect>
  }
  return collect
}
