import { Readable } from 'node:stream'

interface ResponseBudgetOptions {
  /** Maximum of all bodies being sent; a single one may be larger. */
  maxTotalBytes: number
  /** The same for the bodies of one holder. */
  maxHolderBytes?: number
  /** When there is no room, a body of which nothing was read for this long is cut. */
  slowMs?: number
}

interface Sending {
  holder: string
  bytes: number
  lastReadAt: number
  stream: Readable
}

interface SendOptions {
  /** Whose share of the room it counts towards. */
  holder: string
  /** Never refused: the body is sent even if there is no room. */
  mayExceed?: boolean
}

/** Written to the socket at a time: progress is measured in these steps. */
const PIECE_BYTES = 64 * 1024

export type ResponseBudget = ReturnType<typeof responseBudget>

/**
 * Limits the memory of the bodies being sent, in total and for each holder. Each counts until its last piece was read or
 * its stream is closed; when there is no room, the slowest are cut: the holder's own for its share, those of all for the
 * total.
 */
export function responseBudget({
  maxTotalBytes,
  maxHolderBytes = Number.POSITIVE_INFINITY,
  slowMs = 1_000,
}: ResponseBudgetOptions) {
  const sendings = new Set<Sending>()

  return {
    /** The bytes of all bodies being sent. */
    totalBytes: () => bytesIn(sendings),

    /** Returns the body as a stream, which must be read or destroyed; undefined if there is no room. */
    send(body: Buffer, { holder, mayExceed = false }: SendOptions): Readable | undefined {
      if (!makeRoom(body.length, holder) && !mayExceed) return undefined
      let offset = 0
      const stream = new Readable({
        highWaterMark: PIECE_BYTES,
        read() {
          sending.lastReadAt = performance.now()
          const piece = body.subarray(offset, offset + PIECE_BYTES)
          offset += piece.length
          stream.push(piece.length > 0 ? piece : null)
        },
      })
      const sending = begin(stream, { bytes: body.length, holder })
      return stream
    },

    /** The same for pieces, and as many bytes that stay in memory until all of them are read. */
    sendPieces(
      pieces: Readable,
      { bytes, holder, mayExceed = false }: SendOptions & { bytes: number },
    ): Readable | undefined {
      if (!makeRoom(bytes, holder) && !mayExceed) return undefined
      const stream = Readable.from(read(), { objectMode: false })
      const sending = begin(stream, { bytes, holder })
      stream.once('close', () => pieces.destroy())
      return stream

      async function* read() {
        for await (const piece of pieces) {
          sending.lastReadAt = performance.now()
          yield piece
        }
      }
    },
  }

  function begin(stream: Readable, { bytes, holder }: { bytes: number; holder: string }): Sending {
    const sending: Sending = { holder, bytes, lastReadAt: performance.now(), stream }
    sendings.add(sending)
    stream.once('close', () => sendings.delete(sending))
    return sending
  }

  /** Returns whether there is room, after cutting slow bodies as far as needed. */
  function makeRoom(bytes: number, holder: string): boolean {
    const own = () => [...sendings].filter((sending) => sending.holder === holder)
    return (
      cutUntilFits(bytes, { maxBytes: maxHolderBytes, among: own }) &&
      cutUntilFits(bytes, { maxBytes: maxTotalBytes, among: () => [...sendings] })
    )
  }

  function cutUntilFits(
    bytes: number,
    { maxBytes, among }: { maxBytes: number; among(): Sending[] },
  ): boolean {
    const fits = () => {
      const used = bytesIn(among())
      return used === 0 || used + bytes <= maxBytes
    }
    const slowSince = performance.now() - slowMs
    const slow = among()
      .filter(({ lastReadAt }) => lastReadAt <= slowSince)
      .sort((a, b) => a.lastReadAt - b.lastReadAt)
    for (const sending of slow) {
      if (fits()) break
      sendings.delete(sending)
      sending.stream.destroy(new Error(`No part of the response was read for ${slowMs} ms.`))
    }
    return fits()
  }
}

const bytesIn = (sendings: Iterable<Sending>) => [...sendings].reduce((sum, { bytes }) => sum + bytes, 0)
