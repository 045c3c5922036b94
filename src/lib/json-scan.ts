interface JsonScanOptions {
  /** Maximum of values: objects, arrays and their members. */
  maxValues: number
  /** Maximum of objects and arrays within each other: what comes after may be recursive. */
  maxDepth: number
  /** Called with the offset in its chunk of each bracket and comma of the root: between them are its members. */
  onCut?(index: number): void
}

export type JsonScan = ReturnType<typeof jsonScan>

/** Maximum of bytes kept of a member's name. */
const NAME_BYTES = 128

/**
 * Counts JSON values while the bytes arrive: 1 ns per byte, while parsing takes a hundred times that. It does not
 * validate: the count for invalid JSON is arbitrary.
 */
export function jsonScan({ maxValues, maxDepth, onCut }: JsonScanOptions) {
  let values = 1
  let depth = 0
  let isInString = false
  let isEscaped = false
  let token: Buffer = NOTHING
  /** The name of the member of the root object that is being scanned; unescaped only if it is needed. */
  let name: Buffer | undefined

  return {
    /** Scans the next chunk; returns false once there is too much. */
    push(chunk: Buffer): boolean {
      for (let index = 0; index < chunk.length && isWithin(); index++) {
        if (isInString) index = restOfString(chunk, index)
        else look(chunk[index] ?? 0, index)
      }
      return isWithin()
    },
    get isTooDeep() {
      return depth > maxDepth
    },
    /** Number of values so far. */
    get values() {
      return values
    },
    /** The member of the root object that the last bytes belong to. */
    get member(): string | undefined {
      return name && nameIn(name)
    },
  }

  function isWithin(): boolean {
    return values <= maxValues && depth <= maxDepth
  }

  function look(byte: number, index: number): void {
    switch (byte) {
      case QUOTE:
        isInString = true
        token = NOTHING
        return
      case COLON:
        if (depth === 1) name = token
        return
      case COMMA:
        values++
        if (depth !== 1) return
        name = undefined
        onCut?.(index)
        return
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values++
        if (depth++ === 0) onCut?.(index)
        return
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        if (depth-- === 1) onCut?.(index)
    }
  }

  /** Returns the offset where the string, or its part in this chunk, ends. */
  function restOfString(chunk: Buffer, from: number): number {
    for (let part = from; ; ) {
      const quote = chunk.indexOf(QUOTE, part)
      const end = quote < 0 ? chunk.length : quote
      // A quote after an odd number of backslashes is escaped; the backslashes may begin in the previous chunk.
      let first = end
      while (first > part && chunk[first - 1] === BACKSLASH) first--
      const isOdd = (end - first) % 2 === 1
      isEscaped = first === part ? isOdd !== isEscaped : isOdd
      if (quote >= 0 && isEscaped) {
        isEscaped = false
        part = quote + 1
        continue
      }
      if (depth === 1 && name === undefined && token.length < NAME_BYTES) {
        const part = chunk.subarray(from, Math.min(end, from + NAME_BYTES))
        token = token.length === 0 ? part : Buffer.concat([token, part])
      }
      isInString = quote < 0
      return end
    }
  }
}

/** The unescaped name; the raw one if it was truncated. */
function nameIn(token: Buffer): string {
  const text = token.toString()
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return text
  }
}

const NOTHING = Buffer.alloc(0)
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
