/**
 * Which transactions were over at a moment. A stream's position is a snapshot and not an id or a time: commits
 * are in the order of neither.
 */
export interface Snapshot {
  /** As PostgreSQL writes it: `xmin:xmax:xip,xip`. */
  text: string
  /** The first transaction that had not begun. */
  end: bigint
  /** Those before it that were not over. */
  running: string[]
  /** Of the server: another one after each crash, in which numbers of transactions are given a second time. */
  life: string
}

/** What became visible between two snapshots: these transactions, and a range of them without those. */
export interface Span {
  finished: string[]
  from: string
  to: string
  without: string[]
}

export function parseSnapshot({ text, life }: Pick<Snapshot, 'text' | 'life'>): Snapshot {
  const [, end = '0', running = ''] = text.split(':')
  return { text, end: BigInt(end), running: running.split(',').filter(Boolean), life }
}

/** Undefined when the later one lies before the earlier, or in another life: then the database is not the one it was. */
export function spanBetween(earlier: Snapshot, later: Snapshot): Span | undefined {
  if (later.end < earlier.end || later.life !== earlier.life) return undefined
  return {
    finished: earlier.running.filter((transaction) => !later.running.includes(transaction)),
    from: String(earlier.end),
    to: String(later.end),
    without: later.running.filter((transaction) => BigInt(transaction) >= earlier.end),
  }
}
