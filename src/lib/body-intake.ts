import type { Readable } from 'node:stream'
import { freeBytes } from './free-bytes.ts'

interface IntakeRefusals {
  tooLarge(maxBytes: number): Error
  /** It came too slowly, or the room is needed by who is faster. */
  stalled(): Error
  /** There is no room, and nobody slow to take it from. */
  full(): Error
}

interface IntakeOptions {
  /** All bodies may hold so much together, until they are released. */
  maxTotalBytes: number
  /** Those of one holder may hold so much of it. */
  maxHolderBytes?: number
  /** A body that stops is given up after so long, one that trickles as soon as this much time is lost. */
  stallMs: number
  /** When the room is full, who is behind by this much has to leave. */
  slowMs?: number
  /** Each part buys this much time, so a body cannot live on a byte now and then. */
  minBytesPerSecond?: number
  refusals: IntakeRefusals
}

interface Arrival {
  holder: string
  bytes: number
  isComplete: boolean
  /** Until then what has come pays for waiting; a large part pays for `stallMs` at most. */
  paidUntil: number
  /** The same with at most `slowMs`: past it the body is slow. */
  quickUntil: number
  giveUp(error: Error): void
}

export interface ReceivedBody {
  bytes: Buffer
  /** Gives its room back, once. */
  release(): void
}

interface ReceiveOptions {
  maxBytes: number
  /** Who has to share a part of the room. */
  holder: string
  /** Looks at each part as it comes. */
  refusalOf?(chunk: Buffer): Error | undefined
}

export type BodyIntake = ReturnType<typeof bodyIntake>

/**
 * Receives bodies within one amount of memory. What counts is what has come, not what was announced, from the first
 * byte until the body is released; and the room of the slowest is given to who still sends.
 */
export function bodyIntake({
  maxTotalBytes,
  maxHolderBytes = Number.POSITIVE_INFINITY,
  stallMs,
  slowMs = 1_000,
  // An eighth of a bad mobile line, and too much for whoever wants to hold hundreds of connections for nothing.
  minBytesPerSecond = 1_024,
  refusals,
}: IntakeOptions) {
  const arrivals = new Set<Arrival>()
  const bytesByHolder = new Map<string, number>()
  let total = 0

  return {
    /** Of all bodies that are not released yet. */
    totalBytes: () => total,

    /** Resolves with the body; when it fails, the rest is thrown away, and the stream stays open for an answer. */
    async receive(
      stream: Readable,
      { maxBytes, holder, refusalOf = () => undefined }: ReceiveOptions,
    ): Promise<ReceivedBody> {
      const chunks: Buffer[] = []
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const now = performance.now()
      const arrival: Arrival = {
        holder,
        bytes: 0,
        isComplete: false,
        paidUntil: now + stallMs,
        quickUntil: now + slowMs,
        giveUp: reject,
      }
      let timer = setTimeout(lookAgain, stallMs)
      arrivals.add(arrival)

      function lookAgain() {
        const left = arrival.paidUntil - performance.now()
        if (left <= 0) reject(refusals.stalled())
        else timer = setTimeout(lookAgain, Math.ceil(left))
      }
      const onData = (chunk: Buffer) => {
        // It was let go of a moment ago, and is not counted any more.
        if (!arrivals.has(arrival)) return
        if (arrival.bytes + chunk.length > maxBytes) return reject(refusals.tooLarge(maxBytes))
        const boughtMs = (chunk.length / minBytesPerSecond) * 1_000
        const now = performance.now()
        arrival.paidUntil = Math.min(arrival.paidUntil + boughtMs, now + stallMs)
        arrival.quickUntil = Math.min(Math.max(arrival.quickUntil, now - slowMs) + boughtMs, now + slowMs)
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
      const onClose = () => reject(new Error('The connection ended before the body did.'))
      stream.on('data', onData).once('end', onEnd).once('close', onClose).on('error', reject)

      try {
        await promise
        const bytes = Buffer.concat(chunks)
        for (const chunk of chunks) freeBytes(chunk)
        return { bytes, release: () => release(arrival) }
      } catch (error) {
        // What is left of the connection may keep this function's variables for as long as it is open.
        chunks.length = 0
        release(arrival)
        throw error
      } finally {
        clearTimeout(timer)
        // The listener for errors stays: a connection that breaks now must not end the process.
        stream.off('data', onData).off('end', onEnd).off('close', onClose)
        // What still comes is thrown away: left in the socket, it would hold up the next request on it for ever.
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
    // Of its own nobody is cut: a holder that sends a lot at once makes all of it slow by itself.
    if ((bytesByHolder.get(newcomer.holder) ?? 0) + bytes > maxHolderBytes) return false
    let missing = total + bytes - maxTotalBytes
    if (missing <= 0) return true
    const now = performance.now()
    const slow = [...arrivals]
      .filter((arrival) => arrival !== newcomer && !arrival.isComplete && arrival.bytes > 0)
      .filter(({ quickUntil }) => quickUntil <= now)
      .sort((a, b) => a.quickUntil - b.quickUntil)
    for (const arrival of slow) {
      if (missing <= 0) break
      missing -= arrival.bytes
      // At once, not when its connection has heard of it.
      release(arrival)
      arrival.giveUp(refusals.stalled())
    }
    return missing <= 0
  }
}
