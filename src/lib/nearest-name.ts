/** Longer names are compared with nothing: the cost grows with the square. */
const MAX_LENGTH = 40

/** The name that a misspelled one probably means, if any. Case, hyphens, and underscores don't count. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  const given = plain(name)
  const [nearest] = known
    .map((each) => ({ each, distance: distanceBetween(given, plain(each)) }))
    .filter(({ each, distance }) => distance <= Math.max(given.length, each.length) / 3)
    .toSorted((a, b) => a.distance - b.distance)
  return nearest?.each
}

/** Whether two names differ only in case, hyphens, and underscores. */
export const isSameName = (one: string, other: string): boolean => plain(one) === plain(other)

const plain = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, '')

/** The number of characters to insert, remove, or replace; two that are swapped count once. */
function distanceBetween(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (last[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwap ? (beforeLast[j - 2] as number) + 1 : replaced
      row.push(Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, replaced, swapped))
    }
    beforeLast = last
    last = row
  }
  return last[to.length] as number
}
