import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The tests run against a fresh production build. */
export async function setup(): Promise<void> {
  const build = fileURLToPath(new URL('../../../src/dashboard/build.ts', import.meta.url))
  await promisify(execFile)(process.execPath, [build])
}
