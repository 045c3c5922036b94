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

/** What `npm start` runs, but for a developer's own `.env`. */
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const SERVICE: string[] = scripts.start
  .split(' ')
  .slice(1)
  .filter((argument: string) => !argument.startsWith('--env-file'))

export const ADMIN_KEY = `bench-${'k'.repeat(32)}`

export interface Running {
  process: ChildProcess
  url: string
  /** From the spawn to the line that says where it listens. */
  readyMs: number
  stop(): Promise<void>
}

export type Stage = Awaited<ReturnType<typeof setStage>>

/** A folder and a PostgreSQL of this run's own, on disk and with the settings `npm start` has. */
export async function setStage() {
  const directory = await mkdtemp(join(tmpdir(), 'inlet-bench-'))
  // As root, PostgreSQL runs as another user that has to pass.
  await chmod(directory, 0o711)
  const log = { info: () => {}, warn: (about: object, words: string) => console.error(words, about) }
  const server = await startEmbedded({ dataDir: join(directory, 'stage'), log })
  const running = new Set<Running>()

  return {
    directory,
    adminUrl: server.connectionString,

    /** A migrated database with nothing in it. */
    async database(name: string): Promise<string> {
      await query(server.connectionString, `create database ${name}`)
      const url = new URL(server.connectionString)
      url.pathname = `/${name}`
      await migrate(url.href)
      return url.href
    },

    /** The service, on a database of the stage or on what the environment says. */
    service: (env: Record<string, string>) => start(SERVICE, env),

    /** Something to hold it against: a script of this folder. */
    bare: (script: string, env: Record<string, string>) =>
      start([fileURLToPath(new URL(script, import.meta.url))], env),

    async clear(): Promise<void> {
      for (const each of running) await each.stop()
      await server.stop()
      const stages = ['stage', 'start'].map((name) =>
        realpath(join(directory, name, 'postgres')).catch(() => ''),
      )
      // As root below a closed folder the data lies elsewhere, behind a link.
      for (const cluster of await Promise.all(stages)) {
        if (cluster && !cluster.startsWith(directory))
          await rm(dirname(cluster), { recursive: true, force: true })
      }
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }

  async function start(args: string[], env: Record<string, string>): Promise<Running> {
    const since = performance.now()
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
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

/** All it says is read: a full pipe would hold it up. */
function addressOf(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length > 100_000) return
    said += text
    const url = /is at (http:\S+?)\/?\s/.exec(said)?.[1]
    if (url) resolve(url)
  })
  child.once('exit', () => reject(new Error(`It ended before it listened:\n${said}`)))
  return promise
}
