/** Removes duplicates that may differ in case; the first spelling and its position are kept. */
export function distinctIgnoringCase(names: string[]): string[] {
  const seen = new Set<string>()
  return names.filter((name) => {
    const key = name.toLowerCase()
    return !seen.has(key) && seen.add(key)
  })
}
