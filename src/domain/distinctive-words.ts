const MAX_WORDS = 3
/** Shorter words are in too many texts. */
const MIN_LENGTH = 4

/** The longest words of a text, in lower case, which the fewest other texts have. */
export function distinctiveWords(text: string): string[] {
  const words = new Set(text.toLowerCase().match(WORD) ?? [])
  return [...words]
    .filter((word) => [...word].length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
}

const WORD = /[\p{L}\p{N}]+/gu

/** Each two of them; one alone, if there is only one. */
export function pairsOf<T>(items: T[]): T[][] {
  if (items.length === 1) return [items]
  return items.flatMap((first, index) => items.slice(index + 1).map((second) => [first, second]))
}
