export const WINDOW_MS = 60_000

/** What is left of a limit after this request. */
interface Allowance {
  limit: number
  remaining: number
  resetSeconds: number
  isExceeded: boolean
}

/**
 * Counts by name in windows of a minute that begin for all at once, so the memory is that of one minute. The clock only
 * goes forward: one that is set back would keep callers out until it has caught up.
 */
export function minuteLimit(limit: number, now: () => number = () => performance.now()) {
  let counts = new Map<string, number>()
  let endsAt = 0
  return {
    /** The allowance of a next request; counts nothing. */
    peek(name: string): Allowance | undefined {
      if (limit === 0) return undefined
      const time = now()
      return allowanceOf((time < endsAt ? (counts.get(name) ?? 0) : 0) + 1, time)
    },

    /** Counts `cost` requests of this name; a limit of 0 is off. */
    take(name: string, cost = 1): Allowance | undefined {
      if (limit === 0) return undefined
      const time = now()
      if (time >= endsAt) {
        counts = new Map()
        endsAt = time + WINDOW_MS
      }
      const count = (counts.get(name) ?? 0) + cost
      counts.set(name, count)
      return allowanceOf(count, time)
    },

    /** Takes a request back that counted in this window. */
    giveBack(name: string): void {
      const count = counts.get(name) ?? 0
      if (count > 1) counts.set(name, count - 1)
      else counts.delete(name)
    },
  }

  function allowanceOf(count: number, time: number): Allowance {
    return {
      limit,
      remaining: Math.max(0, limit - count),
      resetSeconds: Math.ceil((endsAt - time) / 1000),
      isExceeded: count > limit,
    }
  }
}

export type MinuteLimit = ReturnType<typeof minuteLimit>
