import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startEmbedded } from '../../../src/db/embedded/index.ts'
import { migrate } from '../../../src/db/migrate.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The environment and the arguments of node in `npm start`, without a developer's own `.env`. */
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const [, VARIABLE = '', VALUE = '', SERVICE_ARGUMENTS = ''] =
  /^(\w+)=(\w+) exec node (.+?) \|\|/.exec(scripts.start) ?? []
const SERVICE = SERVICE_ARGUMENTS.split(' ').filter((argument) => !argument.startsWith('--env-file'))

export const ADMIN_KEY = `bench-${'k'.repeat(32)}`

export interface Running {
  process: ChildProcess
  url: string
  /** From the spawn to the line that says where it listens. */
  readyMs: number
  stop(): Promise<void>
}

interface StartOptions {
  cwd?: string
  command?: string | undefined
}

interface ProgramOptions {
  env?: Record<string, string>
  command?: string
}

export type Setup = Awaited<ReturnType<typeof setUp>>

/** A folder and a PostgreSQL of this run's own, on disk and with the settings that `npm start` uses. */
export async function setUp() {
  const directory = await mkdtemp(join(tmpdir(), 'inlet-bench-'))
  // As root, PostgreSQL runs as another user that has to pass.
  await chmod(directory, 0o711)
  const log = { info: () => {}, warn: (about: object, words: string) => console.error(words, about) }
  const server = await startEmbedded({ dataDir: join(directory, 'data'), log })
  const running = new Set<Running>()

  return {
    directory,
    adminUrl: server.connectionString,

    /** An empty migrated database. */
    async database(name: string): Promise<string> {
      await query(server.connectionString, `create database ${name}`)
      const url = new URL(server.connectionString)
      url.pathname = `/${name}`
      await migrate(url.href)
      return url.href
    },

    /** The service, with these variables. */
    service: (env: Record<string, string>) => start(SERVICE, { [VARIABLE]: VALUE, ...env }),

    /** Fastify with one route: see bare.ts. */
    bare: (env: Record<string, string>) => start([fileURLToPath(new URL('bare.ts', import.meta.url))], env),

    /** Another program that prints its address, from a folder of its own; of Node's unless it names another command. */
    program: (cwd: string, args: string[], { env = {}, command }: ProgramOptions = {}) =>
      start(args, env, { cwd, command }),

    /** Between parts: services that a failed part left running, and autovacuum, would slow down the next one. */
    async reset(): Promise<void> {
      for (const each of running) await each.stop()
      const databases = await query<{ name: string }>(
        server.connectionString,
        `select datname as name from pg_database
         where not datistemplate and datname not in ('postgres', current_database())`,
      )
      const drops = databases.map(({ name }) => `drop database ${name} with (force)`)
      await query(server.connectionString, ...drops, 'checkpoint')
    },

    async clear(): Promise<void> {
      for (const each of running) await each.stop()
      await server.stop()
      const links = ['data', 'start'].map((name) =>
        realpath(join(directory, name, 'postgres')).catch(() => ''),
      )
      // As root below a closed folder the data lies elsewhere, behind a link.
      for (const cluster of await Promise.all(links)) {
        if (cluster && !cluster.startsWith(directory))
          await rm(dirname(cluster), { recursive: true, force: true })
      }
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }

  async function start(
    args: string[],
    env: Record<string, string>,
    { cwd = ROOT, command = process.execPath }: StartOptions = {},
  ): Promise<Running> {
    const since = performance.now()
    const child = spawn(command, args, {
      cwd,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PORT: '0',
        BOOTSTRAP_API_KEY: ADMIN_KEY,
        RATE_LIMIT_PER_MINUTE: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const url = await addressOf(child)
    const started = {
      process: child,
      url,
      readyMs: performance.now() - since,
      async stop() {
        running.delete(started)
        if (child.exitCode !== null || child.signalCode !== null) return
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        await ended
      },
    }
    running.add(started)
    return started
  }
}

export async function query<T extends pg.QueryResultRow>(connectionString: string, ...statements: string[]) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    let rows: T[] = []
    for (const statement of statements) rows = (await client.query<T>(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/**
 * Runs a measurement while the process is stopped: its background work would slow down the database, and with it the
 * figure that the process is compared with.
 */
export async function whilePaused<T>({ process }: Running, work: () => Promise<T>): Promise<T> {
  process.kill('SIGSTOP')
  try {
    return await work()
  } finally {
    process.kill('SIGCONT')
  }
}

/** Resident memory in MB, now and at most since the start, as Linux counts it. */
export function memoryOf({ process }: Running): { now: number; peak: number } {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8')
  const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

/** Reads all output: a full pipe would block the process. */
function addressOf(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (output.length > 100_000) return
    output += text
    const url = /^(?:It|Inlet) is (?:running )?at (http:\S+?)\/?\n/m.exec(output)?.[1]
    if (url) resolve(url)
  })
  child.once('exit', () => reject(new Error(`The process ended before it listened:\n${output}`)))
  return promise
}
