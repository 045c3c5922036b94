import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { spawnCommand } from '../support/commands.ts'
import { reportFault } from '../support/fault-report.ts'
import {
  cleanUp,
  connectionStringOf,
  killServer,
  newDataDir,
  serverPid,
  spawnInlet,
} from '../support/inlet-process.ts'
import { temporaryRoot } from '../support/postgres-server.ts'

const MAX_START_MS = 30_000
const MAX_END_MS = 10_000
/** Of a start that only waits for another instance: long before connections to the database are cut. */
const MAX_WAIT_MS = 4_000

let made: string
let backup: string
beforeAll(async () => {
  made = await mkdtemp(join(await temporaryRoot(), 'inlet-damaged-'))
  await chmod(made, 0o711)
  const dataDir = join(made, 'data')
  const inlet = spawnInlet({ dataDir })
  await inlet.url
  inlet.process.kill('SIGTERM')
  await inlet.ended
  backup = join(made, 'backup.tar.gz')
  expect(await spawnCommand(['backup', backup], { dataDir }).ended).toMatchObject({ code: 0 })
}, 120_000)
afterEach(cleanUp)
afterAll(() => rm(made, { recursive: true, force: true }))

describe('random bytes in the files of the embedded database: the start says so and leaves nothing', () => {
  const files: [string, (cluster: string) => Promise<string[]>][] = [
    ['the tables of its own database', (cluster) => relations(cluster, isOwn)],
    ['the tables of every database', (cluster) => relations(cluster, () => true)],
    ['all files of its own database', (cluster) => filesOf(cluster, isOwn)],
    ['the roles', async (cluster) => [join(cluster, 'global', '1260')]],
    ['the map of its tables', async (cluster) => [join(cluster, 'global', 'pg_filenode.map')]],
    ['the configuration', async (cluster) => [join(cluster, 'postgresql.conf')]],
    ['pg_control', async (cluster) => [join(cluster, 'global', 'pg_control')]],
    ['the write-ahead log', (cluster) => filesIn(join(cluster, 'pg_wal'))],
  ]

  test.each(files)('over %s', { timeout: 120_000 }, async (what, damagedFiles) => {
    const dataDir = await newDataDir()
    copyTo(dataDir)
    for (const file of await damagedFiles(join(dataDir, 'postgres'))) await overwrite(file)

    await expectDamaged(dataDir)
    reportFault({ fault: `random bytes over ${what}`, times: 1, note: 'exit with 1' })
  })

  // As a power failure can leave them. The server crashes when it reads them, and recovers.
  test('zeros over the tables of its own database', { timeout: 120_000 }, async () => {
    const dataDir = await newDataDir()
    copyTo(dataDir)
    for (const file of await relations(join(dataDir, 'postgres'), isOwn))
      await writeFile(file, Buffer.alloc((await stat(file)).size))

    await expectDamaged(dataDir)
  })

  // As random bytes that are no number.
  test('over the version of the cluster', async () => {
    const dataDir = await newDataDir()
    copyTo(dataDir)
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), Buffer.of(0x9f, 0, 0x81))

    await expectDamaged(dataDir)
  })

  // As random bytes that happen to be a number.
  test('over the version of its own database', async () => {
    const dataDir = await newDataDir()
    copyTo(dataDir)
    const [version = ''] = await filesOf(join(dataDir, 'postgres'), isOwn, /^PG_VERSION$/)
    await writeFile(version, '7')

    await expectDamaged(dataDir)
  })
})

async function expectDamaged(dataDir: string): Promise<void> {
  const inlet = spawnInlet({ dataDir })
  expect(await inlet.ended).toMatchObject({ code: 1 })
  expect((await inlet.ended).ms).toBeLessThan(MAX_START_MS)
  expect(inlet.output()).toMatch(/^Inlet cannot start\. .* is damaged.*[Rr]estore a backup/im)
  expect(inlet.output()).not.toMatch(/initdb|DATABASE_URL/)
  expect(await serverPid(dataDir)).toBeUndefined()
}

test('a backup restored in the place of a damaged database starts, and the damaged files are kept', {
  timeout: 120_000,
}, async () => {
  const dataDir = await newDataDir()
  copyTo(dataDir)
  await overwrite(join(dataDir, 'postgres', 'global', 'pg_control'))

  const restored = await spawnCommand(['restore', backup, '--move-existing'], { dataDir }).ended

  expect(restored).toMatchObject({ code: 0 })
  const kept = /The previous database is in (\S+)\./.exec(restored.output)?.[1] ?? ''
  expect(await readFile(join(kept, 'PG_VERSION'), 'utf8')).toMatch(/^\d+\n$/)
  const inlet = spawnInlet({ dataDir })
  expect((await fetch(`${await inlet.url}/readyz`)).status).toBe(200)
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
})

describe('SIGTERM during a start ends it within ten seconds, and the server with it', () => {
  const times: [string, (dataDir: string) => Promise<boolean>][] = [
    ['before its server runs', async () => true],
    ['as soon as its server runs', async (dataDir) => (await serverPid(dataDir)) !== undefined],
    ['while its server recovers', isRecovering],
  ]

  test.each(times)('%s', { timeout: 120_000 }, async (_when, isTime) => {
    const dataDir = await newDataDir()
    copyTo(dataDir)
    if (isTime === isRecovering) await crash(dataDir)
    const inlet = spawnInlet({ dataDir })
    await expect.poll(() => isTime(dataDir), { interval: 1, timeout: 60_000 }).toBe(true)

    const since = performance.now()
    inlet.process.kill('SIGTERM')
    await inlet.ended

    expect(performance.now() - since).toBeLessThan(MAX_END_MS)
    await expect.poll(() => serverPid(dataDir), { timeout: 10_000 }).toBeUndefined()
  })

  test('while another process holds the lock of starts', { timeout: 180_000 }, async () => {
    const dataDir = await newDataDir()
    copyTo(dataDir)
    const inlet = spawnInlet({ dataDir })
    await expect.poll(inlet.output, { timeout: 60_000 }).toContain('embedded database ready')
    await inlet.url
    const holder = new pg.Client({ connectionString: await connectionStringOf(dataDir) })
    holder.on('error', () => {})
    await holder.connect()
    await holder.query('select pg_advisory_lock(7461001)')

    const waiting = spawnInlet({ dataDir })
    await expect.poll(waiting.output, { timeout: 60_000 }).toContain('embedded database ready')
    const since = performance.now()
    waiting.process.kill('SIGTERM')
    await waiting.ended
    expect(performance.now() - since).toBeLessThan(MAX_WAIT_MS)

    await holder.end()
    inlet.process.kill('SIGTERM')
    expect(await inlet.ended).toMatchObject({ code: 0 })
    expect(await serverPid(dataDir)).toBeUndefined()
  })
})

/** With its owners. */
function copyTo(dataDir: string): void {
  execFileSync('cp', ['-a', join(made, 'data'), dataDir])
}

/** The names of folders of databases that PostgreSQL did not make itself. */
const isOwn = (database: string) => Number(database) > 10_000

const relations = (cluster: string, isOf: (database: string) => boolean) => filesOf(cluster, isOf, /^\d+$/)

/** Of the databases whose folder has such a name. */
async function filesOf(cluster: string, isOf: (database: string) => boolean, name = /./): Promise<string[]> {
  const databases = (await readdir(join(cluster, 'base'))).filter(isOf)
  const files = await Promise.all(databases.map((database) => filesIn(join(cluster, 'base', database))))
  return files.flat().filter((file) => name.test(basename(file)))
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name))
}

async function overwrite(file: string): Promise<void> {
  await writeFile(file, randomBytes((await stat(file)).size))
}

/** Leaves a database that needs recovery. */
async function crash(dataDir: string): Promise<void> {
  const inlet = spawnInlet({ dataDir })
  await inlet.url
  inlet.process.kill('SIGKILL')
  await inlet.ended
  await killServer(dataDir)
}

async function isRecovering(dataDir: string): Promise<boolean> {
  const cluster = await realpath(join(dataDir, 'postgres'))
  const log = await readFile(join(cluster, 'server.log'), 'utf8')
  return /automatic recovery in progress/.test(log)
}
