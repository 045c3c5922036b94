import type { Readable } from 'node:stream'

interface IntakeRefusals {
  tooLarge(maxBytes: number): Error
  /** Nothing came for too long, or the room is needed by who is faster. */
  stalled(): Error
  /** There is no room, and nobody slow to take it from. */
  full(): Error
}

interface IntakeOptions {
  /** All bodies that are being received may hold so much together. */
  maxTotalBytes: number
  /** A body that brings nothing for so long is given up. */
  stallMs: number
  /** When the room is full, who brought nothing for so long has to leave. */
  slowMs?: number
  refusals: IntakeRefusals
}

interface Arrival {
  bytes: number
  lastByteAt: number
  giveUp(error: Error): void
}

export type BodyIntake = ReturnType<typeof bodyIntake>

/**
 * Receives bodies within one amount of memory. What counts is what has come, not what was announced, so holding room
 * costs as much as it takes; and the room of the slowest is given to who still sends.
 */
export function bodyIntake({ maxTotalBytes, stallMs, slowMs = 1_000, refusals }: IntakeOptions) {
  const arrivals = new Set<Arrival>()
  let total = 0

  return {
    /** Of all bodies that are not complete yet. */
    totalBytes: () => total,

    /**
     * Resolves with the body; when it fails, the rest is thrown away, and the stream stays open for an answer. Each part
     * may be looked at as it comes, and be the reason to refuse.
     */
    receive(
      stream: Readable,
      maxBytes: number,
      refusalOf: (chunk: Buffer) => Error | undefined = () => undefined,
    ): Promise<Buffer> {
      const chunks: Buffer[] = []
      const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
      const arrival: Arrival = { bytes: 0, lastByteAt: performance.now(), giveUp: reject }
      const timer = setTimeout(() => reject(refusals.stalled()), stallMs)
      arrivals.add(arrival)

      const onData = (chunk: Buffer) => {
        if (arrival.bytes + chunk.length > maxBytes) return reject(refusals.tooLarge(maxBytes))
        arrival.lastByteAt = performance.now()
        if (!makeRoom(chunk.length, arrival)) return reject(refusals.full())
        const refusal = refusalOf(chunk)
        if (refusal) return reject(refusal)
        arrival.bytes += chunk.length
        total += chunk.length
        chunks.push(chunk)
        timer.refresh()
      }
      const onEnd = () => resolve(Buffer.concat(chunks))
      const onClose = () => reject(new Error('The connection ended before the body did.'))
      stream.on('data', onData).once('end', onEnd).once('close', onClose).on('error', reject)

      return promise.finally(() => {
        clearTimeout(timer)
        arrivals.delete(arrival)
        total -= arrival.bytes
        // The listener for errors stays: a connection that breaks now must not end the process.
        stream.off('data', onData).off('end', onEnd).off('close', onClose)
        // What still comes is thrown away: left in the socket, it would hold up the next request on it for ever.
        stream.resume()
      })
    },
  }

  function makeRoom(bytes: number, newcomer: Arrival): boolean {
    // They are let go one after the other, and leave the set and the sum a moment later.
    let missing = total + bytes - maxTotalBytes
    if (missing <= 0) return true
    const slowSince = performance.now() - slowMs
    const slow = [...arrivals]
      .filter((arrival) => arrival !== newcomer && arrival.bytes > 0 && arrival.lastByteAt <= slowSince)
      .sort((a, b) => a.lastByteAt - b.lastByteAt)
    for (const arrival of slow) {
      if (missing <= 0) break
      missing -= arrival.bytes
      total -= arrival.bytes
      arrival.bytes = 0
      arrival.giveUp(refusals.stalled())
    }
    return missing <= 0
  }
}
