const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * The elements of a JSON array, each parsed when its last byte has come: a page of 10 MB never lies in memory as a
 * whole, neither as bytes nor as text. What stands between two commas is left to `JSON.parse`; this only finds them.
 * @throws SyntaxError where the answer is no array, is cut, or has anything after its end.
 */
export async function* jsonElements(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  /** What has come of the element that is being read. */
  let parts: Uint8Array[] = []
  let depth = 0
  let isInText = false
  let isEscaped = false
  let isOver = false
  let count = 0

  for await (const chunk of chunks) {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInText = false
      } else if (depth === 0) {
        if (SPACE.has(byte)) continue
        if (isOver || byte !== OPEN_LIST) throw new SyntaxError('The answer is not one list.')
        depth = 1
        start = at + 1
      } else if (byte === QUOTE) isInText = true
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++
      else if (depth > 1 && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) depth--
      else if (depth === 1 && (byte === COMMA || byte === CLOSE_LIST)) {
        const text = Buffer.concat([...parts, chunk.subarray(start, at)]).toString()
        parts = []
        start = at + 1
        if (byte === CLOSE_LIST) [depth, isOver] = [0, true]
        if (isOver && count === 0 && text.trim() === '') continue
        count++
        yield JSON.parse(text)
      }
    }
    // A chunk is the reader's own only until it asks for the next.
    if (depth > 0) parts.push(chunk.slice(start))
  }
  if (!isOver) throw new SyntaxError('The answer ends before its list does.')
}
