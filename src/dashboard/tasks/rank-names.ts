/** Filters names case-insensitively: exact matches first, then prefixes, then the given order. */
export function rankNames(names: string[], query: string): string[] {
  const text = query.trim().toLowerCase()
  const rankOf = (name: string) => {
    const lowercase = name.toLowerCase()
    if (lowercase === text) return 0
    return lowercase.startsWith(text) ? 1 : 2
  }
  return names
    .filter((name) => name.toLowerCase().includes(text))
    .sort((one, other) => rankOf(one) - rankOf(other))
}
