interface ByteBudgetOptions {
  maxBytes: number
  /** Who cannot be let in within this time is refused. */
  waitMs: number
  refusal(): Error
}

interface Waiting {
  bytes: number
  holder: string
  letIn(): void
}

export type ByteBudget = ReturnType<typeof byteBudget>

/**
 * Admits work by the bytes it holds, in the order it came, and of each holder one piece at a time. What is larger than
 * all there is comes in alone.
 */
export function byteBudget({ maxBytes, waitMs, refusal }: ByteBudgetOptions) {
  const line: Waiting[] = []
  const holders = new Set<string>()
  let used = 0

  return {
    usedBytes: () => used,

    /** Resolves once there is room; what it returns gives the room back, once. */
    take(bytes: number, holder: string): Promise<() => void> {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const waiting: Waiting = {
        bytes,
        holder,
        letIn() {
          clearTimeout(timer)
          used += bytes
          holders.add(holder)
          let isHeld = true
          resolve(() => {
            if (!isHeld) return
            isHeld = false
            used -= bytes
            holders.delete(holder)
            letIn()
          })
        },
      }
      const timer = setTimeout(() => {
        line.splice(line.indexOf(waiting), 1)
        reject(refusal())
        // A smaller one may have stood behind it.
        letIn()
      }, waitMs)
      line.push(waiting)
      letIn()
      return promise
    },
  }

  function letIn(): void {
    for (;;) {
      // Who waits for a piece of its own holds up nobody else.
      const next = line.find(({ holder }) => !holders.has(holder))
      if (!next || (used > 0 && used + next.bytes > maxBytes)) return
      line.splice(line.indexOf(next), 1)
      next.letIn()
    }
  }
}
