interface ByteBudgetOptions {
  maxBytes: number
  /** Who cannot be let in within this time is refused. */
  waitMs: number
  refusal(): Error
}

interface Waiting {
  bytes: number
  letIn(): void
}

export type ByteBudget = ReturnType<typeof byteBudget>

/** Admits work by the bytes it will hold, in the order it came. What is larger than all there is comes in alone. */
export function byteBudget({ maxBytes, waitMs, refusal }: ByteBudgetOptions) {
  const line: Waiting[] = []
  let used = 0

  return {
    usedBytes: () => used,

    /** Resolves once there is room; what it returns gives the room back, once. */
    take(bytes: number): Promise<() => void> {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const waiting: Waiting = {
        bytes,
        letIn() {
          clearTimeout(timer)
          used += bytes
          let isHeld = true
          resolve(() => {
            if (!isHeld) return
            isHeld = false
            used -= bytes
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
    for (let next = line[0]; next && (used === 0 || used + next.bytes <= maxBytes); next = line[0]) {
      line.shift()
      next.letIn()
    }
  }
}
