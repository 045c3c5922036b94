const DAY_MS = 86_400_000

/** The Mondays of the last weeks, this one included, in UTC: as 2026-11-23, the oldest first. */
export function lastWeeks(now: Date, count: number): string[] {
  const daysSinceMonday = (now.getUTCDay() + 6) % 7
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
  return Array.from({ length: count }, (_, index) => {
    const weeksAgo = count - 1 - index
    return new Date(today - (daysSinceMonday + 7 * weeksAgo) * DAY_MS).toISOString().slice(0, 10)
  })
}

/** What at least these shares of all took at most; undefined of none. The counts are in the order of days. */
export function quantilesOf<Name extends string>(
  counts: { days: number; count: number }[],
  shares: Record<Name, number>,
): Record<Name, number> | undefined {
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return undefined
  const quantile = (share: number) => {
    let left = share * total
    for (const { days, count } of counts) {
      left -= count
      if (left <= 0) return days
    }
    return 0
  }
  const named = Object.entries<number>(shares).map(([name, share]) => [name, quantile(share)])
  return Object.fromEntries(named) as Record<Name, number>
}
