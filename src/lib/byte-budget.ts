interface ByteBudgetOptions {
  maxBytes: number
  /** Work that is not admitted within this time is refused. */
  waitMs: number
  refusal(): Error
}

interface Waiting {
  bytes: number
  holder: string
  admit(): void
}

export type ByteBudget = ReturnType<typeof byteBudget>

/**
 * Admits work by its bytes, in order of arrival, one piece of each holder at a time. Work larger than the whole budget
 * is admitted alone.
 */
export function byteBudget({ maxBytes, waitMs, refusal }: ByteBudgetOptions) {
  const queue: Waiting[] = []
  const holders = new Set<string>()
  let used = 0

  return {
    usedBytes: () => used,

    /** Resolves once there is room, with a function that frees it; later calls do nothing. */
    take(bytes: number, holder: string): Promise<() => void> {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const waiting: Waiting = {
        bytes,
        holder,
        admit() {
          clearTimeout(timer)
          used += bytes
          holders.add(holder)
          let isTaken = true
          resolve(() => {
            if (!isTaken) return
            isTaken = false
            used -= bytes
            holders.delete(holder)
            admit()
          })
        },
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1)
        reject(refusal())
        // A smaller one may be waiting behind it.
        admit()
      }, waitMs)
      queue.push(waiting)
      admit()
      return promise
    },
  }

  function admit(): void {
    for (;;) {
      // A holder that waits for its own piece does not block the others.
      const next = queue.find(({ holder }) => !holders.has(holder))
      if (!next || (used > 0 && used + next.bytes > maxBytes)) return
      queue.splice(queue.indexOf(next), 1)
      next.admit()
    }
  }
}
