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
  }

  async function check(): Promise<void> {
    isChecking = true
    while (isNoticed || isRunning) {
      isNoticed = false
      // While the database is unavailable, nothing can be written anyway.
      isRunning = await imports.isRunning().catch(() => isRunning)
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
