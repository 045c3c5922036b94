/** Where bytes begin, and where they have ended. */
export interface Span {
  start: number
  end: number
}

interface JsonScanOptions {
  /** Values at most: objects, arrays and what stands in them. */
  maxValues: number
  /** A member of the outermost object: where the items of its array stand is written down. */
  itemsOf?: string | undefined
}

export type JsonScan = ReturnType<typeof jsonScan>

/** Of a member's name, so much is remembered. */
const NAME_BYTES = 128
/** Of items, so many are told apart: no array that may be longer is asked for. */
const MAX_ITEMS = 1_000

/**
 * Counts the values of JSON while its bytes arrive: a look costs a nanosecond a byte, building what stands in them a
 * hundred times that. It checks nothing: of what is no JSON it counts something.
 */
export function jsonScan({ maxValues, itemsOf }: JsonScanOptions) {
  let seen = 0
  let values = 1
  let depth = 0
  let isInString = false
  let isEscaped = false
  let token = Buffer.alloc(0)
  let member: string | undefined
  let isInItems = false
  let isItemBlank = true
  let itemStart = 0
  const items: Span[] = []

  return {
    /** Takes the next bytes; false once there are more values than may be. */
    push(chunk: Buffer): boolean {
      for (let at = 0; at < chunk.length && values <= maxValues; at++) {
        if (isInString) at = restOfString(chunk, at)
        else look(chunk[at] ?? 0, seen + at)
      }
      seen += chunk.length
      return values <= maxValues
    },
    /** How many values there were so far. */
    get values() {
      return values
    },
    /** The member of the outermost object that the last bytes belong to. */
    get member() {
      return member
    },
    get items(): readonly Span[] {
      return items
    },
  }

  function look(byte: number, place: number): void {
    switch (byte) {
      case QUOTE:
        isInString = true
        isItemBlank = false
        token = Buffer.alloc(0)
        return
      case COLON:
        if (depth === 1) member = nameIn(token)
        return
      case COMMA:
        values++
        if (depth === 2 && isInItems) endItem(place)
        if (depth === 1) member = undefined
        return
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values++
        if (depth === 1 && member === itemsOf && itemsOf !== undefined && byte === OPEN_BRACKET) {
          isInItems = true
          itemStart = place + 1
          isItemBlank = true
        } else {
          isItemBlank = false
        }
        depth++
        return
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        if (depth === 2 && isInItems) {
          endItem(place)
          isInItems = false
        }
        depth--
        return
      default:
        if (byte > SPACE) isItemBlank = false
    }
  }

  function endItem(place: number): void {
    if (!isItemBlank) items.push({ start: itemStart, end: place })
    itemStart = place + 1
    isItemBlank = true
    if (items.length === MAX_ITEMS) isInItems = false
  }

  /** The last place of the string's part in this chunk. */
  function restOfString(chunk: Buffer, from: number): number {
    for (let part = from; ; ) {
      const quote = chunk.indexOf(QUOTE, part)
      const end = quote < 0 ? chunk.length : quote
      // A quote behind an odd row of backslashes belongs to the string; the row may have begun in the chunk before.
      let first = end
      while (first > part && chunk[first - 1] === BACKSLASH) first--
      const isOdd = (end - first) % 2 === 1
      isEscaped = first === part ? isOdd !== isEscaped : isOdd
      if (quote >= 0 && isEscaped) {
        isEscaped = false
        part = quote + 1
        continue
      }
      if (depth === 1 && token.length < NAME_BYTES)
        token = Buffer.concat([token, chunk.subarray(from, Math.min(end, from + NAME_BYTES))])
      isInString = quote < 0
      return end
    }
  }
}

/** A name as it is meant; as it is written where it was too long to be remembered whole. */
function nameIn(token: Buffer): string {
  const text = token.toString()
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return text
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const SPACE = 0x20
