import { randomBytes } from 'node:crypto'
import { chown, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import type { DataLocation } from './data-location.ts'
import { damaged } from './refusals.ts'
import { refuseInterruptedRestore } from './restored.ts'
import { run } from './run.ts'
import { buildDirectory, exists, removeAbandoned } from './staging.ts'

/** The only database user. */
export const USER = 'inlet'

interface ClusterOptions {
  binaries: Binaries
  isDurable: boolean
}

/** Creates PostgreSQL's data directory if absent, and returns the password stored in it. */
export async function ensureCluster(
  location: DataLocation,
  { binaries, isDurable }: ClusterOptions,
): Promise<string> {
  await removeAbandoned(location.cluster)
  if (!(await exists(join(location.cluster, 'PG_VERSION')))) {
    await refuseInterruptedRestore(location.cluster)
    await createCluster(location, { binaries, isDurable })
  }
  await refuseOtherMajor(location.cluster, binaries.major)
  return readPassword(location.cluster)
}

// Inside the data directory, so that one rename creates both: there is never a password without its database.
export const PASSWORD_FILE = 'inlet.password'

async function createCluster(
  { cluster, account }: DataLocation,
  { binaries, isDurable }: ClusterOptions,
): Promise<void> {
  await buildDirectory(cluster, {
    marker: 'PG_VERSION',
    fill: async (scratch) => {
      const password = join(scratch, 'password')
      const data = join(scratch, 'data')
      await writeFile(password, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true })
      await mkdir(data, { mode: 0o700 })
      if (account) for (const path of [password, data, scratch]) await chown(path, account.uid, account.gid)

      const args = [...INITDB, '-D', data, `--pwfile=${password}`, ...(isDurable ? [] : ['--no-sync'])]
      const inUnicode = await run(binaries.initdb, { args: [...args, UNICODE_LETTERS], account })
      const made = inUnicode.ok ? inUnicode : await run(binaries.initdb, { args, account })
      if (!made.ok) throw new Error(`initdb failed: ${made.output}`)
      await rename(password, join(data, PASSWORD_FILE))
      return data
    },
  })
}

const INITDB = [
  `--username=${USER}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--no-locale',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
]

// pg_trgm asks the locale which characters are letters. Without this, only ASCII counts, and a search for any other
// word scans all texts. Not every system has this locale.
const UNICODE_LETTERS = '--lc-ctype=C.UTF-8'

async function refuseOtherMajor(cluster: string, major: number): Promise<void> {
  const found = Number.parseInt(await readFile(join(cluster, 'PG_VERSION'), 'utf8'), 10)
  if (found === major) return
  if (Number.isNaN(found)) throw new Error(damaged(cluster, 'PG_VERSION has no version'))
  throw new Error(
    `the database in ${cluster} was made by PostgreSQL ${found} and the packaged server is PostgreSQL ${major}: ` +
      `dump it with version ${found} and restore it, or run a PostgreSQL ${found} server on it`,
  )
}

async function readPassword(cluster: string): Promise<string> {
  const path = join(cluster, PASSWORD_FILE)
  const password = await readFile(path, 'utf8').catch(() => '')
  if (!password) throw new Error(`${path} is missing, and nobody can connect to the server without it`)
  return password.trim()
}
