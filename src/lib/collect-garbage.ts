import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Frees what is no longer held, at once: V8 lets garbage lie as long as there is room, and the room of a process is not
 * its own. It stops everything for some 50 ms, so it is for what leaves tens of megabytes behind and is rare.
 */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
