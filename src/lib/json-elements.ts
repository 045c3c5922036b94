import { jsonScan } from './json-scan.ts'

/**
 * The elements of a JSON array, each parsed when its last byte has arrived, so that a page of 10 MB is never in memory
 * whole, neither as bytes nor as text. Only finds the commas; `JSON.parse` validates each element.
 * @throws SyntaxError if the input is not an array, is truncated, or continues after its end.
 */
export async function* jsonElements(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  /** Chunks since the last cut. */
  let parts: Uint8Array[] = []
  let cuts: number[] = []
  let isInList = false
  let isOver = false
  let count = 0
  const scan = jsonScan({ maxValues: Infinity, maxDepth: Infinity, onCut: (index) => cuts.push(index) })

  for await (const chunk of chunks) {
    cuts = []
    scan.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    let start = 0
    for (const cut of cuts) {
      const text = Buffer.concat([...parts, chunk.subarray(start, cut)]).toString()
      parts = []
      start = cut + 1
      const mark = String.fromCharCode(chunk[cut] ?? 0)
      if (!isInList) {
        if (isOver || mark !== '[' || !isBlank(text)) throw new SyntaxError(NO_LIST)
        isInList = true
        continue
      }
      if (mark === '}') throw new SyntaxError(NO_LIST)
      isOver = mark === ']'
      isInList = !isOver
      if (isOver && count === 0 && isBlank(text)) continue
      count++
      yield JSON.parse(text)
    }
    // A chunk may be reused once the next one is requested, so its rest is copied.
    const rest = chunk.slice(start)
    if (isInList) parts.push(rest)
    else if (!isBlank(Buffer.from(rest).toString())) throw new SyntaxError(NO_LIST)
  }
  if (!isOver) throw new SyntaxError('The response ends before its list does.')
}

const isBlank = (text: string) => /^[ \t\n\r]*$/.test(text)

const NO_LIST = 'The response is not a list.'
