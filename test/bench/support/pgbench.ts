import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** @throws Error that says what to install where pgbench is not in PATH. */
export async function requirePgbench(): Promise<void> {
  await run('pgbench', ['--version']).catch(() => {
    throw new Error('pgbench is not in PATH: install it (Debian: apt install postgresql-contrib).')
  })
}

interface PgbenchOptions {
  connectionString: string
  directory: string
  /** A statement, or a script with `\set` lines before it. */
  script: string[]
  connections: number
  seconds: number
}

/** Transactions per second of one prepared statement, repeated over all connections. */
export async function transactionsPerSecond(options: PgbenchOptions): Promise<number> {
  const { connectionString, directory, script, connections, seconds } = options
  const file = join(directory, 'pgbench.sql')
  await writeFile(file, script.map((line) => line.replaceAll(/\s+/g, ' ').trim()).join('\n'))
  const { hostname, port, username, password, pathname } = new URL(connectionString)
  const server = ['-h', hostname, '-p', port, '-U', username, pathname.slice(1)]
  const load = ['-n', '-M', 'prepared', '-c', String(connections), '-T', String(seconds), '-f', file]
  const { stdout } = await run('pgbench', [...load, ...server], {
    env: { ...process.env, PGPASSWORD: password },
  })
  const perSecond = Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1])
  if (!(perSecond > 0)) throw new Error(`pgbench printed no figure:\n${stdout}`)
  return perSecond
}
