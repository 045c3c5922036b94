/** What a search looks for: every term has to match. */
export interface SearchTerms {
  /** Words and phrases, the longest first. Each has to be part of a text. */
  words: string[]
  /** Numbers of issues and pull requests. */
  codehostNumbers: number[]
}

/** Between the texts of a task that are searched as one, so that no phrase matches across two of them. */
const TEXT_SEPARATOR = '\u001f'

const MAX_NUMBER = 2_147_483_647

/** Reads words, phrases in quotes, and numbers as in `#12`. */
export function searchTermsOf(query: string): SearchTerms {
  const words: string[] = []
  const codehostNumbers: number[] = []
  for (const [token, phrase] of query.replaceAll(TEXT_SEPARATOR, ' ').matchAll(/"([^"]*)(?:"|$)|[^\s"]+/gu)) {
    const number = Number(/^#(\d{1,10})$/.exec(token)?.[1] ?? Number.NaN)
    if (number <= MAX_NUMBER) codehostNumbers.push(number)
    else if ((phrase ?? token).trim() !== '') words.push((phrase ?? token).trim())
  }
  return { words: withoutParts(words), codehostNumbers: [...new Set(codehostNumbers)] }
}

/** The longest first, without those that are part of another one: they match wherever that does. */
function withoutParts(words: string[]): string[] {
  const longestFirst = words.toSorted((a, b) => b.length - a.length)
  const lower = longestFirst.map((word) => word.toLowerCase())
  return longestFirst.filter(
    (_, index) => !lower.slice(0, index).some((longer) => longer.includes(lower[index] as string)),
  )
}
