interface Rows {
  count: number
  /** The index of the topmost visible row. */
  firstIndex: number
  visibleCount: number
  /** The number of rows rendered before and after the visible ones. */
  overscan: number
  /** Rendered wherever it is; negative for none. */
  keptIndex: number
}

/** The indexes of the rows of a scrolling list to render, in ascending order. */
export function indexesToRender({ count, firstIndex, visibleCount, overscan, keptIndex }: Rows): number[] {
  const end = Math.min(count, firstIndex + visibleCount + overscan)
  // A list that became shorter is scrolled back later.
  const start = Math.max(0, Math.min(firstIndex, count - visibleCount) - overscan)
  const indexes = Array.from({ length: end - start }, (_, offset) => start + offset)
  if (keptIndex < 0 || keptIndex >= count) return indexes
  if (keptIndex < start) return [keptIndex, ...indexes]
  return keptIndex >= end ? [...indexes, keptIndex] : indexes
}
