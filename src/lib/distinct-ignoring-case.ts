/**
 * Removes duplicates that may differ in case, or in how their accents are encoded; the first spelling and its position are
 * kept, in NFC.
 */
export function distinctIgnoringCase(names: string[]): string[] {
  const seen = new Set<string>()
  return names
    .filter((name) => {
      const key = lowerCase(name.normalize('NFC'))
      return !seen.has(key) && seen.add(key)
    })
    .map(composed)
}

/** In NFC, unless that makes it longer, which it does to few characters. */
export function composed(name: string): string {
  const text = name.normalize('NFC')
  return text.length > name.length ? name : text
}

/**
 * As the database's `lower`, which counts and finds names: each character by itself, and one for one. JavaScript writes a
 * sigma at the end of a word differently, and two characters for İ.
 */
const lowerCase = (text: string) =>
  Array.from(text, (character) => (character === 'İ' ? 'i' : character.toLowerCase())).join('')
