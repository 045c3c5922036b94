import { writeSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded into a process under test: prints on SIGURG how many bytes its main thread holds, garbage left out, and on the
 * next SIGURG how many it held at most since.
 */

/** Each collection takes some tens of milliseconds. */
const INTERVAL_MS = 100

if (isMainThread) {
  let max = 0
  let timer: ReturnType<typeof setInterval> | undefined
  process.on('SIGURG', () => {
    const held = heldBytes()
    writeSync(1, `held memory ${timer ? Math.max(max, held) : held}\n`)
    clearInterval(timer)
    max = held
    timer = timer
      ? undefined
      : setInterval(() => {
          max = Math.max(max, heldBytes())
        }, INTERVAL_MS)
  })
}

let collectGarbage: (() => void) | undefined

function heldBytes(): number {
  collectGarbage ??= exposedGc()
  // The first leaves the memory of buffers to a helper thread; the second waits for it.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Cast: contexts that are made after the flag is set have this function. */
function exposedGc(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
