import { writeSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/* Loaded into a process under test: says on SIGWINCH for how long its event loop stood still at most since the last time. */

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  process.on('SIGWINCH', () => {
    writeSync(1, `loop delay ${Math.round(delay.max / 1e4) / 100}\n`)
    delay.reset()
  })
}
