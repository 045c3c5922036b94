import type { Readable } from 'node:stream'

interface ArrivalOptions {
  /** A stream of which nothing arrives for this long fails. */
  stallMs: number
  /** Below this rate, it loses as much time as it is late. */
  minBytesPerSecond?: number
  stalled(): Error
}

/**
 * The chunks of a stream as they are needed. Only the time in which it is waited for counts. The stream stays open when
 * the reader stops, so that a response can be sent.
 */
export async function* arrivingChunks(
  stream: Readable,
  { stallMs, minBytesPerSecond = 1_024, stalled }: ArrivalOptions,
): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = stream.iterator({ destroyOnReturn: false })
  let leftMs = stallMs
  for (;;) {
    const since = performance.now()
    const { promise: timeout, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(stalled()), Math.max(leftMs, 1))
    const next = chunks.next()
    // Nobody waits for it after a timeout.
    next.catch(() => {})
    const { value, done } = await Promise.race([next, timeout]).finally(() => clearTimeout(timer))
    if (done) return
    const boughtMs = (value.length / minBytesPerSecond) * 1_000
    leftMs = Math.min(leftMs - (performance.now() - since) + boughtMs, stallMs)
    yield value
  }
}
