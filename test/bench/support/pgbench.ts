import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What to say where pgbench is absent; undefined where it is there. */
export async function whyNoPgbench(): Promise<string | undefined> {
  return run('pgbench', ['--version']).then(
    () => undefined,
    () =>
      'pgbench is not in PATH, so creates have nothing to be held against: install it (Debian: apt install postgresql-contrib).',
  )
}

interface PgbenchOptions {
  connectionString: string
  directory: string
  statement: string
  connections: number
  seconds: number
}

/** Transactions a second of one prepared statement, sent again and again over so many connections. */
export async function transactionsPerSecond(options: PgbenchOptions): Promise<number> {
  const { connectionString, directory, statement, connections, seconds } = options
  const script = join(directory, 'pgbench.sql')
  await writeFile(script, statement.replaceAll(/\s+/g, ' '))
  const { hostname, port, username, password, pathname } = new URL(connectionString)
  const where = ['-h', hostname, '-p', port, '-U', username, pathname.slice(1)]
  const how = ['-n', '-M', 'prepared', '-c', String(connections), '-T', String(seconds), '-f', script]
  const { stdout } = await run('pgbench', [...how, ...where], {
    env: { ...process.env, PGPASSWORD: password },
  })
  const perSecond = Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1])
  if (!(perSecond > 0)) throw new Error(`pgbench said no figure:\n${stdout}`)
  return perSecond
}
