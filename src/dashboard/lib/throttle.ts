export interface Throttle {
  /** Schedules a run; calls before it starts share it. */
  schedule(delayMs?: number): void
  stop(): void
}

/** Runs `delayMs` after a call, and at most once per `intervalMs`. */
export function createThrottle(
  run: () => unknown,
  { delayMs, intervalMs }: { delayMs: number; intervalMs: number },
): Throttle {
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastRunAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  return {
    schedule(ms = delayMs) {
      if (isStopped) return
      timer ??= setTimeout(
        () => {
          timer = undefined
          lastRunAt = Date.now()
          void run()
        },
        Math.max(ms, lastRunAt + intervalMs - Date.now()),
      )
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
