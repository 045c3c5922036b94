import { setImmediate } from 'node:timers/promises'

/** For work of many small steps: asked between them, it gives way to everything else whenever so much time has passed. */
export function timeSlices(sliceMs = 10): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < sliceMs) return
    await setImmediate()
    since = performance.now()
  }
}
