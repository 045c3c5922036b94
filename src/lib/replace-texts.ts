/**
 * Replaces all occurrences of the texts, ignoring case; overlapping occurrences are replaced as one. Uses the
 * Aho-Corasick algorithm: one pass over a text, however many texts and however similar.
 */
export function textReplacer(texts: string[], replacement: string): (text: string) => string {
  if (texts.length === 0) return (text) => text
  const { follow, longestAt } = automaton(texts.map(folded))

  return (text) => {
    const found: { start: number; end: number }[] = []
    const units = folded(text)
    let state = 0
    for (let index = 0; index < units.length; index++) {
      state = follow(state, units.charCodeAt(index))
      const length = longestAt[state] ?? 0
      if (length === 0) continue
      const match = { start: index + 1 - length, end: index + 1 }
      for (let last = found.at(-1); last && last.end > match.start; last = found.at(-1)) {
        match.start = Math.min(match.start, last.start)
        found.pop()
      }
      found.push(match)
    }
    if (found.length === 0) return text
    const between = found.map(({ start }, index) => text.slice(found[index - 1]?.end ?? 0, start))
    return [...between, text.slice(found.at(-1)?.end)].join(replacement)
  }
}

function automaton(texts: string[]) {
  const steps = new Map<number, number>()
  const fallbacks = [0]
  const longestAt = [0]
  const stepKey = (state: number, unit: number) => state * 65_536 + unit

  for (const text of texts) {
    let state = 0
    for (let index = 0; index < text.length; index++) {
      const key = stepKey(state, text.charCodeAt(index))
      state = steps.get(key) ?? longestAt.push(0) - 1
      steps.set(key, state)
    }
    longestAt[state] = text.length
  }
  // States are numbered per text and not by depth, so fallbacks are computed level by level.
  const byState = new Map<number, { unit: number; to: number }[]>()
  for (const [key, to] of steps) {
    const from = Math.floor(key / 65_536)
    byState.set(from, [...(byState.get(from) ?? []), { unit: key % 65_536, to }])
  }
  for (let level = [0]; level.length > 0; ) {
    const next: number[] = []
    for (const from of level) {
      for (const { unit, to } of byState.get(from) ?? []) {
        fallbacks[to] = from === 0 ? 0 : follow(fallbacks[from] ?? 0, unit)
        longestAt[to] ||= longestAt[fallbacks[to] ?? 0] ?? 0
        next.push(to)
      }
    }
    level = next
  }
  return { follow, longestAt }

  function follow(from: number, unit: number): number {
    for (let state = from; ; state = fallbacks[state] ?? 0) {
      const to = steps.get(stepKey(state, unit))
      if (to !== undefined) return to
      if (state === 0) return 0
    }
  }
}

/** Lower case with the same length: each UTF-16 unit keeps its position. */
function folded(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  let result = ''
  for (const character of text) {
    const lower = character.toUpperCase().toLowerCase()
    result += lower.length === character.length ? lower : character
  }
  return result
}
