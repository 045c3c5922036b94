/** The names that contain what was typed, in any case: the same first, then those that begin so, else as they came. */
export function rankNames(names: string[], typed: string): string[] {
  const text = typed.trim().toLowerCase()
  const rankOf = (name: string) => {
    const folded = name.toLowerCase()
    if (folded === text) return 0
    return folded.startsWith(text) ? 1 : 2
  }
  return names
    .filter((name) => name.toLowerCase().includes(text))
    .sort((one, other) => rankOf(one) - rankOf(other))
}
