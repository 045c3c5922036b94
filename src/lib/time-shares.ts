interface TimeSharesOptions {
  /** Each owner may use this much time of each window. */
  shareMs: number
  windowMs: number
  now?: () => number
}

interface Use {
  at: number
  ms: number
}

export type TimeShares = ReturnType<typeof timeShares>

/** Uses this close together leave the window together. */
const STEP_MS = 100

/** How much time each owner has used lately of something that they share. */
export function timeShares({ shareMs, windowMs, now = () => performance.now() }: TimeSharesOptions) {
  const owners = new Map<string, { uses: Use[]; lastMs: number }>()
  let forgottenAt = now()

  return {
    /** How much an owner has used of the last window. */
    usedMs: (owner: string): number => sumOf(usesOf(owner)),

    /** How long until an owner may use as much as it did last; 0 if it may now. One that has used nothing always may. */
    overForMs(owner: string): number {
      let kept = Math.min(owners.get(owner)?.lastMs ?? 0, shareMs)
      for (const { at, ms } of usesOf(owner).toReversed()) {
        kept += ms
        if (kept > shareMs) return at + windowMs - now()
      }
      return 0
    },

    record(owner: string, ms: number): void {
      const uses = usesOf(owner)
      const last = uses.at(-1)
      const at = now()
      if (last && at - last.at < STEP_MS) last.ms += ms
      else uses.push({ at, ms })
      owners.set(owner, { uses, lastMs: ms })
      if (at - forgottenAt > windowMs) forgetIdle(at)
    },
  }

  function usesOf(owner: string): Use[] {
    const since = now() - windowMs
    return owners.get(owner)?.uses.filter(({ at }) => at > since) ?? []
  }

  function forgetIdle(at: number): void {
    forgottenAt = at
    for (const owner of owners.keys()) if (usesOf(owner).length === 0) owners.delete(owner)
  }
}

const sumOf = (uses: Use[]) => uses.reduce((sum, { ms }) => sum + ms, 0)
