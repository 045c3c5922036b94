import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Runs garbage collection now: V8 delays it while the heap may grow, but the process shares its memory. It blocks for
 * about 50 ms, so it is only for rare work that leaves tens of megabytes behind.
 */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
