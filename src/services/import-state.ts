import { importInProgress } from '../errors/index.ts'
import type { importRepository } from '../repositories/import/index.ts'

/** How often an instance checks whether an import that it knows of has ended: its instance may have been killed. */
const CHECK_MS = 1_000

export type ImportState = ReturnType<typeof importState>

/**
 * Whether an import is in progress on any instance. Writes read a variable; it follows the import's lock, which is read
 * at notices, and once a second during an import.
 */
export function importState({
  imports,
  checkMs = CHECK_MS,
}: {
  imports: Pick<ReturnType<typeof importRepository>, 'isRunning'>
  checkMs?: number
}) {
  let isRunning = false
  let isChecking = false
  let isNoticed = false
  let wake = () => {}
  let lastRead = 0
  let lastReturned = 0

  return {
    isRunning: () => isRunning,

    /** @throws import_in_progress */
    requireNone(): void {
      if (isRunning) throw importInProgress()
    },

    /** Handles a notice that an import began or ended, or that notices may have been lost. */
    receive(): void {
      isNoticed = true
      wake()
      if (!isChecking) void check()
    },

    refresh,
  }

  /** Reads whether one is in progress: whoever waits for this does not depend on the notice. */
  async function refresh(): Promise<void> {
    const nth = ++lastRead
    // While the database is unavailable, nothing can be written anyway.
    const found = await imports.isRunning().catch(() => isRunning)
    // One that began later may have been faster.
    if (nth < lastReturned) return
    lastReturned = nth
    isRunning = found
  }

  async function check(): Promise<void> {
    isChecking = true
    while (isNoticed || isRunning) {
      isNoticed = false
      await refresh()
      if (isRunning && !isNoticed) await pause()
    }
    isChecking = false
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve
      setTimeout(resolve, checkMs).unref()
    })
  }
}
