import { Readable } from 'node:stream'

interface BudgetOptions {
  /** Maximum of all bodies being sent; a single one may be larger. */
  maxTotalBytes: number
  /** When there is no room, a body of which nothing was read for this long is cut. */
  slowMs?: number
}

interface Sending {
  bytes: number
  lastTakenAt: number
  stream: Readable
}

/** Written to the socket at a time: progress is measured in these steps. */
const PIECE_BYTES = 64 * 1024

export type ResponseBudget = ReturnType<typeof responseBudget>

/**
 * Limits the memory of bodies that are sent from it as a whole. Each counts until its last piece was read or its stream
 * is closed; when there is no room, the slowest are cut.
 */
export function responseBudget({ maxTotalBytes, slowMs = 1_000 }: BudgetOptions) {
  const sendings = new Set<Sending>()
  let total = 0

  return {
    /** The bytes of all bodies being sent. */
    totalBytes: () => total,

    /** Returns the body as a stream, which must be read or destroyed; undefined if there is no room. */
    send(body: Buffer, { mayExceed = false } = {}): Readable | undefined {
      if (!makeRoom(body.length) && !mayExceed) return undefined
      let offset = 0
      const stream = new Readable({
        highWaterMark: PIECE_BYTES,
        read() {
          sending.lastTakenAt = performance.now()
          const piece = body.subarray(offset, offset + PIECE_BYTES)
          offset += piece.length
          stream.push(piece.length > 0 ? piece : null)
        },
      })
      const sending = begin(stream, body.length)
      return stream
    },

    /** The same for what is already made of as many bytes and comes in pieces. It is never refused. */
    sendPieces(pieces: Readable, bytes: number): Readable {
      makeRoom(bytes)
      const stream = Readable.from(taken(), { objectMode: false })
      const sending = begin(stream, bytes)
      stream.once('close', () => pieces.destroy())
      return stream

      async function* taken() {
        for await (const piece of pieces) {
          sending.lastTakenAt = performance.now()
          yield piece
        }
      }
    },
  }

  function begin(stream: Readable, bytes: number): Sending {
    const sending: Sending = { bytes, lastTakenAt: performance.now(), stream }
    sendings.add(sending)
    total += bytes
    stream.once('close', () => release(sending))
    return sending
  }

  function makeRoom(bytes: number): boolean {
    const slowSince = performance.now() - slowMs
    const slow = [...sendings]
      .filter(({ lastTakenAt }) => lastTakenAt <= slowSince)
      .sort((a, b) => a.lastTakenAt - b.lastTakenAt)
    for (const sending of slow) {
      if (fits(bytes)) break
      release(sending)
      sending.stream.destroy(new Error(`No part of the response was read for ${slowMs} ms.`))
    }
    return fits(bytes)
  }

  function fits(bytes: number): boolean {
    return total === 0 || total + bytes <= maxTotalBytes
  }

  function release(sending: Sending): void {
    if (sendings.delete(sending)) total -= sending.bytes
  }
}
