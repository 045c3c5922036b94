import type { Readable } from 'node:stream'

interface IntakeRefusals {
  /** It arrived too slowly, or a faster sender needs the room. */
  stalled(): Error
  /** There is no room, and no slow body to cut. */
  full(): Error
}

interface IntakeOptions {
  /** Maximum of all bodies together, until they are released. */
  maxTotalBytes: number
  /** Maximum of the bodies of one holder. */
  maxHolderBytes?: number
  /** A body that stops arriving is refused after this time, a slow one once it has lost this much. */
  stallMs: number
  /** When there is no room, bodies that are behind by this much are cut. */
  slowMs?: number
  /** The rate below which a body loses time. */
  minBytesPerSecond?: number
  refusals: IntakeRefusals
}

interface Arrival {
  holder: string
  bytes: number
  isComplete: boolean
  /** When it is refused: each chunk extends it by its size at the minimum rate, to at most `stallMs` from now. */
  deadline: number
  /** When it counts as slow: the same with at most `slowMs`. */
  slowAt: number
  giveUp(error: Error): void
}

export interface ReceivedBody {
  bytes: Buffer
  /** Frees its room; later calls do nothing. */
  release(): void
}

interface ReceiveOptions {
  maxBytes: number
  /** Whose share of the room it counts towards. */
  holder: string
  /** The error of a body that is larger. */
  tooLarge(): Error
  /** Checks each chunk as it arrives. */
  refusalOf?(chunk: Buffer): Error | undefined
}

export type BodyIntake = ReturnType<typeof bodyIntake>

/**
 * Receives bodies within one amount of memory. Counts the bytes that have arrived, not those announced, until the body
 * is released; when there is no room, the slowest are cut for those that still send.
 */
export function bodyIntake({
  maxTotalBytes,
  maxHolderBytes = Number.POSITIVE_INFINITY,
  stallMs,
  slowMs = 1_000,
  // An eighth of a bad mobile connection; an attacker who keeps hundreds of bodies open still has to send that much for
  // each.
  minBytesPerSecond = 1_024,
  refusals,
}: IntakeOptions) {
  const arrivals = new Set<Arrival>()
  const bytesByHolder = new Map<string, number>()
  let total = 0

  return {
    /** The bytes of all bodies that are not released yet. */
    totalBytes: () => total,

    /** Resolves with the body. On failure the rest is discarded, and the stream stays open for a response. */
    async receive(
      stream: Readable,
      { maxBytes, holder, tooLarge, refusalOf = () => undefined }: ReceiveOptions,
    ): Promise<ReceivedBody> {
      const chunks: Buffer[] = []
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const now = performance.now()
      const arrival: Arrival = {
        holder,
        bytes: 0,
        isComplete: false,
        deadline: now + stallMs,
        slowAt: now + slowMs,
        giveUp: reject,
      }
      let timer = setTimeout(lookAgain, stallMs)
      arrivals.add(arrival)

      function lookAgain() {
        const left = arrival.deadline - performance.now()
        if (left <= 0) reject(refusals.stalled())
        else timer = setTimeout(lookAgain, Math.ceil(left))
      }
      const onData = (chunk: Buffer) => {
        // Released since, so it is no longer counted.
        if (!arrivals.has(arrival)) return
        if (arrival.bytes + chunk.length > maxBytes) return reject(tooLarge())
        const boughtMs = (chunk.length / minBytesPerSecond) * 1_000
        const now = performance.now()
        arrival.deadline = Math.min(arrival.deadline + boughtMs, now + stallMs)
        arrival.slowAt = Math.min(Math.max(arrival.slowAt, now - slowMs) + boughtMs, now + slowMs)
        if (!makeRoom(chunk.length, arrival)) return reject(refusals.full())
        const refusal = refusalOf(chunk)
        if (refusal) return reject(refusal)
        arrival.bytes += chunk.length
        count(holder, chunk.length)
        chunks.push(chunk)
      }
      const onEnd = () => {
        arrival.isComplete = true
        resolve()
      }
      const onClose = () => {
        if (!arrival.isComplete) reject(new Error('The connection ended before the body did.'))
      }
      stream.on('data', onData).once('end', onEnd).once('close', onClose).on('error', reject)

      try {
        await promise
        const bytes = Buffer.concat(chunks)
        return { bytes, release: () => release(arrival) }
      } catch (error) {
        // The open connection may keep this function's variables alive.
        chunks.length = 0
        release(arrival)
        throw error
      } finally {
        clearTimeout(timer)
        // The listener for errors stays: a connection that breaks now must not end the process.
        stream.off('data', onData).off('end', onEnd).off('close', onClose)
        // The rest is discarded: left in the socket, it would block the next request on it.
        stream.resume()
      }
    },
  }

  function release(arrival: Arrival): void {
    if (arrivals.delete(arrival)) count(arrival.holder, -arrival.bytes)
  }

  function count(holder: string, more: number): void {
    total += more
    const bytes = (bytesByHolder.get(holder) ?? 0) + more
    if (bytes > 0) bytesByHolder.set(holder, bytes)
    else bytesByHolder.delete(holder)
  }

  function makeRoom(bytes: number, newcomer: Arrival): boolean {
    // A holder's own bodies are not cut: many at once slow each other down.
    if ((bytesByHolder.get(newcomer.holder) ?? 0) + bytes > maxHolderBytes) return false
    let missing = total + bytes - maxTotalBytes
    if (missing <= 0) return true
    const now = performance.now()
    const slow = [...arrivals]
      .filter((arrival) => arrival !== newcomer && !arrival.isComplete && arrival.bytes > 0)
      .filter(({ slowAt }) => slowAt <= now)
      .sort((a, b) => a.slowAt - b.slowAt)
    for (const arrival of slow) {
      if (missing <= 0) break
      missing -= arrival.bytes
      // Before the connection closes: the room is needed now.
      release(arrival)
      arrival.giveUp(refusals.stalled())
    }
    return missing <= 0
  }
}
