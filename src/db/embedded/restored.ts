import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { exists } from './staging.ts'

/** The file in the data directory of a restored database that has not been started since. */
export const RESTORED_FILE = 'inlet.restored'

/** The name that a restore gives to the database that was there. */
export function movedName(cluster: string): string {
  return `${cluster}${MOVED}${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
}

/** Without this, a restore that was killed after it renamed the database would start with an empty one. */
export async function refuseInterruptedRestore(cluster: string): Promise<void> {
  const names = await readdir(dirname(cluster))
  const last = names
    .filter((name) => name.startsWith(basename(cluster) + MOVED))
    .sort()
    .at(-1)
  if (!last) return
  const moved = join(dirname(cluster), last)
  throw new Error(
    `there is no database in ${cluster}, but there is the one that a restore renamed, ${moved}: run the restore again, ` +
      `or rename it back with mv ${moved} ${cluster}. To start with an empty database, move it to another directory`,
  )
}

const MOVED = '.before-restore-'

/** Calls `act` at the first start after a restore, and again if it did not complete. */
export async function whenRestored(cluster: string, act: () => Promise<void>): Promise<void> {
  const file = join(cluster, RESTORED_FILE)
  if (!(await exists(file))) return
  await act()
  await rm(file, { force: true })
}
