import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, realpath, rm, statfs } from 'node:fs/promises'
import { homedir, tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { dropDatabase, urlOf, withAdmin } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgres: {
      /** A connection string that may create databases. */
      adminUrl: string
      /** The migrated database that freshDatabase copies. */
      template: string
      /** How the names of this run's databases start. */
      prefix: string
    }
  }
}

interface TestServer {
  adminUrl: string
  dispose(): Promise<void>
}

/** One server for the run, with the template database on it. */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const prefix = `inlet_test_${randomBytes(4).toString('hex')}_`
  const template = `${prefix}template`
  const server = await findServer(prefix)
  try {
    await makeTemplate(server.adminUrl, template)
  } catch (error) {
    // Vitest calls no teardown of a set-up that failed.
    await server.dispose()
    throw error
  }
  project.provide('postgres', { adminUrl: server.adminUrl, template, prefix })
  return server.dispose
}

/** Where databases of tests lie: in memory where there is plenty, which makes CREATE DATABASE 25 ms and not 300. */
export async function temporaryRoot(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined)
  return memory && memory.bavail * memory.bsize > ENOUGH_BYTES ? '/dev/shm' : tmpdir()
}

const ENOUGH_BYTES = 4 * 2 ** 30

async function findServer(prefix: string): Promise<TestServer> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { adminUrl: given, dispose: () => dropAll(given, prefix) }
  return (await startContainer()) ?? startTemporary()
}

// Nothing here has to survive a power cut.
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '256MB',
}

async function startContainer(): Promise<TestServer | undefined> {
  if (!mayHaveContainers()) return undefined
  // Half a second of import, so only where there is hope.
  const { getContainerRuntimeClient } = await import('testcontainers')
  const isRunning = getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
  if (!(await Promise.race([isRunning, sleep(3_000, false, { ref: false })]))) return undefined

  const { PostgreSqlContainer } = await import('@testcontainers/postgresql')
  try {
    const container = await new PostgreSqlContainer('postgres:18')
      .withEnvironment({
        POSTGRES_INITDB_ARGS: '--locale-provider=builtin --builtin-locale=C.UTF-8 --no-sync',
      })
      .withCommand([
        'postgres',
        ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ])
      .start()
    return {
      adminUrl: container.getConnectionUri(),
      dispose: async () => {
        await container.stop()
      },
    }
  } catch (error) {
    console.warn(`No PostgreSQL container (${(error as Error).message}): using the embedded server.`)
    return undefined
  }
}

function mayHaveContainers(): boolean {
  if (process.platform === 'win32' || process.env.DOCKER_HOST) return true
  const home = homedir()
  const signs = [
    '/var/run/docker.sock',
    join(home, '.testcontainers.properties'),
    join(home, '.docker/run/docker.sock'),
    join(home, '.docker/desktop/docker.sock'),
    join(process.env.XDG_RUNTIME_DIR ?? `/run/user/${userInfo().uid}`, 'docker.sock'),
  ]
  return signs.some((path) => existsSync(path))
}

async function startTemporary(): Promise<TestServer> {
  const root = await temporaryRoot()
  await removeForgotten(root)
  const dataDir = await mkdtemp(join(root, `inlet-test-${process.pid}-`))
  const log = { info: () => undefined, warn: (obj: object, msg: string) => console.warn(msg, obj) }
  try {
    const server = await startEmbedded({ dataDir, log, settings: SETTINGS })
    return {
      adminUrl: server.connectionString,
      dispose: async () => {
        // stop() spares a server that others use: tests that failed may have left pools open.
        await withAdmin(server.connectionString, disconnectOthers)
        await server.stop()
        await removeDataDir(dataDir)
      },
    }
  } catch (error) {
    await removeDataDir(dataDir)
    throw error
  }
}

// Of runs that were killed. A server whose files are gone ends by itself within a minute.
async function removeForgotten(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = Number(/^inlet-test-(\d+)-/.exec(name)?.[1])
    if (pid > 0 && !isAlive(pid)) await removeDataDir(join(root, name)).catch(() => undefined)
  }
}

// As root below a closed directory the database lies elsewhere, behind a link.
async function removeDataDir(dataDir: string): Promise<void> {
  const cluster = await realpath(join(dataDir, 'postgres')).catch(() => undefined)
  const paths = cluster ? [dirname(cluster), dataDir] : [dataDir]
  for (const path of paths) await rm(path, { recursive: true, force: true, maxRetries: 5 })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function disconnectOthers(admin: pg.Client): Promise<void> {
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  )
}

async function makeTemplate(adminUrl: string, name: string): Promise<void> {
  await withAdmin(adminUrl, (admin) => admin.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`))
  await migrate(urlOf(adminUrl, name))
  await withAdmin(adminUrl, (admin) =>
    admin.query(`ALTER DATABASE ${pg.escapeIdentifier(name)} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`),
  )
}

async function dropAll(adminUrl: string, prefix: string): Promise<void> {
  await withAdmin(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
      [prefix],
    )
    for (const { name } of rows) {
      await admin.query(`ALTER DATABASE ${pg.escapeIdentifier(name)} WITH IS_TEMPLATE false`)
      await dropDatabase(admin, name)
    }
  })
}
