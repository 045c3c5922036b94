export interface BiteSize {
  /** How many things the next transaction may take. */
  readonly now: number
  /** What the last one took, and whether it was a whole one: a smaller one says little about its size. */
  learn(ms: number, isWhole: boolean): void
}

/** How much work fits into so many milliseconds, on this machine and at its load: learnt from what the last bites took. */
export function biteSize(targetMs: number, { first = 100, min = 50, max = 1_000 } = {}): BiteSize {
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
