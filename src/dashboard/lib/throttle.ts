export interface Throttled {
  /** Asks for a round of work; what is asked for meanwhile is done with it. */
  ask(delayMs?: number): void
  stop(): void
}

/** Work that is done soon after somebody asks for it, and never in quick succession. */
export function throttled(
  work: () => unknown,
  { delayMs, intervalMs }: { delayMs: number; intervalMs: number },
): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  return {
    ask(ms = delayMs) {
      if (isStopped) return
      timer ??= setTimeout(
        () => {
          timer = undefined
          lastAt = Date.now()
          void work()
        },
        Math.max(ms, lastAt + intervalMs - Date.now()),
      )
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
