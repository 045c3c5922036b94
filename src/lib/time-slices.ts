import { setImmediate } from 'node:timers/promises'

/**
 * Call between small steps of long work: yields to the event loop whenever `sliceMs` have passed since the last time.
 */
export function timeSlices(sliceMs = 10): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < sliceMs) return
    await setImmediate()
    since = performance.now()
  }
}
