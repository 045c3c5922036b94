import { openSync, readSync, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded into a process under test: prints on SIGWINCH for how long its event loop was blocked at most since the last
 * time. While the thread was ready to run and other processes had the processors, it was not blocked.
 */

const INTERVAL_MS = 5

if (isMainThread) {
  const queued = queuedClock()
  let max = 0
  let last = { now: performance.now(), queued: queued() }
  setInterval(() => {
    const current = { now: performance.now(), queued: queued() }
    max = Math.max(max, current.now - last.now - INTERVAL_MS - (current.queued - last.queued))
    last = current
  }, INTERVAL_MS).unref()
  process.on('SIGWINCH', () => {
    writeSync(1, `loop delay ${Math.round(max * 100) / 100}\n`)
    max = 0
  })
}

/** Milliseconds that the main thread has waited for a processor, as Linux counts them; 0 elsewhere. */
function queuedClock(): () => number {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
    const bytes = Buffer.alloc(64)
    return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 64, 0)).split(' ')[1]) / 1e6
  } catch {
    return () => 0
  }
}
