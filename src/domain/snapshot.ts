/**
 * The transactions committed at a point in time. A stream's position is a snapshot, not an id or a time, because
 * commits are in the order of neither.
 */
export interface Snapshot {
  /** PostgreSQL's text format: `xmin:xmax:xip,xip`. */
  text: string
  /** The first transaction id not yet assigned (xmax). */
  end: bigint
  /** Transactions below `end` that were still in progress (xip). */
  running: string[]
  /** Identifies the server's uptime: it changes after each crash, after which transaction ids may be reused. */
  life: string
}

/** What became visible between two snapshots: single transactions, and a range without the excluded ones. */
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

/** Returns undefined if `later` precedes `earlier` or is of another `life`: the database was restored or crashed. */
export function spanBetween(earlier: Snapshot, later: Snapshot): Span | undefined {
  if (later.end < earlier.end || later.life !== earlier.life) return undefined
  return {
    finished: earlier.running.filter((transaction) => !later.running.includes(transaction)),
    from: String(earlier.end),
    to: String(later.end),
    without: later.running.filter((transaction) => BigInt(transaction) >= earlier.end),
  }
}
