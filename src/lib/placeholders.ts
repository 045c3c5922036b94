import { randomUUID } from 'node:crypto'

type Pieces = () => AsyncIterable<string>

/**
 * Lets a library serialize a message whose large parts are made later, in pieces: it gets placeholders, which nobody
 * else can know, and `fill` replaces them in its text.
 */
export function placeholders() {
  const parts = new Map<string, Pieces>()

  return {
    isEmpty: () => parts.size === 0,

    /** A string whose JSON is replaced by these pieces of JSON. */
    asText(pieces: Pieces): string {
      return placeholderOf(pieces)
    },

    /** An object whose JSON is replaced by these pieces of JSON. */
    asObject(pieces: Pieces): Record<string, unknown> {
      return { [placeholderOf(pieces)]: true }
    },

    /** The text in pieces, with the parts in place of their placeholders. */
    async *fill(text: string): AsyncGenerator<string> {
      let end = 0
      for (const match of text.matchAll(PLACEHOLDER)) {
        const pieces = parts.get(match[1] ?? match[2] ?? '')
        if (!pieces) continue
        yield text.slice(end, match.index)
        yield* pieces()
        end = match.index + match[0].length
      }
      yield text.slice(end)
    },
  }

  function placeholderOf(pieces: Pieces): string {
    const placeholder = randomUUID()
    parts.set(placeholder, pieces)
    return placeholder
  }
}

const PLACEHOLDER = /\{"([0-9a-f-]{36})":true\}|"([0-9a-f-]{36})"/g
