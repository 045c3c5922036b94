interface LinesOptions {
  maxBytes: number
  /** The error of a line that is longer. */
  tooLong(): Error
}

const NEWLINE = 10

/** Splits chunks at line feeds, which are not part of the lines. What follows the last one is a line, unless empty. */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  { maxBytes, tooLong }: LinesOptions,
): AsyncGenerator<Buffer> {
  let start: Buffer[] = []
  let startBytes = 0
  for await (const chunk of chunks) {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from)
      const part = chunk.subarray(from, end < 0 ? chunk.length : end)
      if (startBytes + part.length > maxBytes) throw tooLong()
      if (end < 0) {
        if (part.length > 0) start.push(part)
        startBytes += part.length
        break
      }
      yield start.length > 0 ? Buffer.concat([...start, part]) : part
      start = []
      startBytes = 0
      from = end + 1
    }
  }
  if (startBytes > 0) yield Buffer.concat(start)
}
