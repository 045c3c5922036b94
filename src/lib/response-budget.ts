import { Readable } from 'node:stream'

interface BudgetOptions {
  /** All bodies that are being sent may hold so much together; a single one may be larger. */
  maxTotalBytes: number
  /** When there is no room, a body of which nothing was taken for so long is cut. */
  slowMs?: number
}

interface Sending {
  bytes: number
  lastTakenAt: number
  stream: Readable
}

/** What is handed to the socket at a time: as fine as progress is seen. */
const PIECE_BYTES = 64 * 1024

export type ResponseBudget = ReturnType<typeof responseBudget>

/**
 * Sends bodies that are in memory as a whole within one amount of it. Each counts until its last piece was taken or its
 * stream is closed; the room of the slowest is given to who still reads.
 */
export function responseBudget({ maxTotalBytes, slowMs = 1_000 }: BudgetOptions) {
  const sendings = new Set<Sending>()
  let total = 0

  return {
    /** Of all bodies that are being sent. */
    totalBytes: () => total,

    /** The body as a stream, which has to be read or destroyed; undefined where there is no room for it. */
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
