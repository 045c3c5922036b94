import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from './staging.ts'

/** The file in the data directory of a restored database that has not been started since. */
export const RESTORED_FILE = 'inlet.restored'

/** Calls `act` at the first start after a restore, and again if it did not complete. */
export async function whenRestored(cluster: string, act: () => Promise<void>): Promise<void> {
  const file = join(cluster, RESTORED_FILE)
  if (!(await exists(file))) return
  await act()
  await rm(file, { force: true })
}
