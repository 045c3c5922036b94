import { periodically } from '../lib/periodically.ts'

/** A lease that this instance has taken. */
interface TakenLease {
  /** Extends it; resolves to undefined if it is lost. */
  renew(): Promise<object | undefined>
  /** Others can take it after this time. */
  release(afterMs: number): Promise<void>
  /** Interval of renewals: several fit into the time of the lease. */
  renewMs: number
}

export interface LeasedWork {
  /** Aborted when the lease is lost. */
  signal: AbortSignal
  /** Ends the lease. What follows is no longer protected. */
  release(afterMs: number): Promise<void>
}

/**
 * Does work that one instance does at a time, and renews its lease meanwhile. Work that does not release it leaves it to
 * end by itself.
 */
export async function withLease<T>(lease: TakenLease, work: (leased: LeasedWork) => Promise<T>): Promise<T> {
  const lost = new AbortController()
  const renewing = periodically(async () => {
    // While the database is unavailable the lease is unknown; the next write checks it.
    const isLost = await lease.renew().then(
      (renewed) => renewed === undefined,
      () => false,
    )
    if (isLost) lost.abort()
  }, lease.renewMs)
  const release = async (afterMs: number) => {
    // A renewal after the release would take it back: nobody could work until that ends.
    await renewing.stop()
    await lease.release(afterMs)
  }
  try {
    return await work({ signal: lost.signal, release })
  } finally {
    await renewing.stop()
  }
}
