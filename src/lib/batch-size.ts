export interface BatchSize {
  /** The maximum of items for the next transaction. */
  readonly now: number
  /**
   * Records how long the last transaction took. A partly filled one says little about the size, unless it was too
   * slow.
   */
  learn(ms: number, isWhole: boolean): void
}

/** Adapts the size of a transaction to take about `targetMs` on this machine at its current load. */
export function adaptiveBatchSize(targetMs: number, { first = 100, min = 50, max = 1_000 } = {}): BatchSize {
  let size = first
  return {
    get now() {
      return size
    },
    learn(ms, isWhole) {
      if (!isWhole && ms <= targetMs) return
      size = Math.round(Math.min(max, Math.max(min, size * Math.min(2, targetMs / ms))))
    },
  }
}
