export interface Paced {
  /** Asks for a round of work; what is asked for meanwhile is done with it. */
  ask(soonMs?: number): void
  stop(): void
}

/** Work that is done soon after somebody asks for it, and never in quick succession. */
export function paced(work: () => unknown, { soonMs, apartMs }: { soonMs: number; apartMs: number }): Paced {
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  return {
    ask(ms = soonMs) {
      if (isStopped) return
      timer ??= setTimeout(
        () => {
          timer = undefined
          lastAt = Date.now()
          void work()
        },
        Math.max(ms, lastAt + apartMs - Date.now()),
      )
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
