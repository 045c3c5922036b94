/** Does work, which handles its own errors, every `ms`; never twice at once, however long it takes. */
export function periodically(work: () => Promise<void>, ms: number) {
  let working: Promise<void> | undefined
  const timer = setInterval(() => {
    working ??= work().finally(() => {
      working = undefined
    })
  }, ms)
  return {
    /** Resolves when nothing is being done any more. */
    async stop(): Promise<void> {
      clearInterval(timer)
      await working
    },
  }
}
