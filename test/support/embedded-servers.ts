import { mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/index.ts'
import { killProcesses, SETTINGS } from './embedded-process.ts'
import { temporaryRoot } from './postgres-server.ts'

const directories: string[] = []

/** Ends the servers and processes that a test started, and deletes their directories. */
export async function removeEmbedded(): Promise<void> {
  await killProcesses()
  for (const directory of directories.splice(0)) await removeAll(directory)
}

export async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(await temporaryRoot(), 'inlet-embedded-'))
  directories.push(directory)
  return directory
}

export async function start(dataDir: string, messages: string[] = []): Promise<EmbeddedServer> {
  const note = (_obj: object, message: string) => void messages.push(message)
  return startEmbedded({ dataDir, settings: SETTINGS, log: { info: note, warn: note } })
}

export async function ask(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString, application_name: 'test', connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  await client.connect()
  return client
    .query(sql)
    .then((result) => result.rows)
    .finally(() => client.end())
}

export async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777
}

export async function serverPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10)
}

// In immediate mode, and gone when its lock file is.
async function endServer(dataDir: string): Promise<void> {
  const pid = await serverPid(dataDir).catch(() => process.pid)
  if (pid === process.pid) return
  try {
    process.kill(pid, 'SIGQUIT')
  } catch {
    return
  }
  for (let waited = 0; waited < 5_000 && (await serverPid(dataDir).catch(() => 0)) === pid; waited += 20)
    await sleep(20)
}

async function removeAll(directory: string): Promise<void> {
  for (const dataDir of [directory, join(directory, 'data')]) {
    const cluster = await realpath(join(dataDir, 'postgres')).catch(() => undefined)
    if (!cluster) continue
    await endServer(dataDir)
    if (!cluster.startsWith(await realpath(directory)))
      await rm(dirname(cluster), { recursive: true, force: true })
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
}
