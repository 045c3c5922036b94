const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * The elements of a JSON array, each parsed when its last byte has arrived, so that a page of 10 MB is never in memory
 * whole, neither as bytes nor as text. Only finds the commas; `JSON.parse` validates each element.
 * @throws SyntaxError if the input is not an array, is truncated, or continues after its end.
 */
export async function* jsonElements(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  /** Chunks of the current element. */
  let parts: Uint8Array[] = []
  let depth = 0
  let isInText = false
  let isEscaped = false
  let isOver = false
  let count = 0

  for await (const chunk of chunks) {
    let start = 0
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index] as number
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInText = false
      } else if (depth === 0) {
        if (SPACE.has(byte)) continue
        if (isOver || byte !== OPEN_LIST) throw new SyntaxError('The response is not a list.')
        depth = 1
        start = index + 1
      } else if (byte === QUOTE) isInText = true
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++
      else if (depth > 1 && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) depth--
      else if (depth === 1 && (byte === COMMA || byte === CLOSE_LIST)) {
        const text = Buffer.concat([...parts, chunk.subarray(start, index)]).toString()
        parts = []
        start = index + 1
        if (byte === CLOSE_LIST) [depth, isOver] = [0, true]
        if (isOver && count === 0 && text.trim() === '') continue
        count++
        yield JSON.parse(text)
      }
    }
    // A chunk may be reused once the next one is requested, so its rest is copied.
    if (depth > 0) parts.push(chunk.slice(start))
  }
  if (!isOver) throw new SyntaxError('The response ends before its list does.')
}
