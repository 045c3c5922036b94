import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { locateBinaries } from '../../src/db/embedded/binaries.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/index.ts'
import {
  canRunAs,
  kill,
  killProcesses,
  SETTINGS,
  spawnProcess,
  startProcess,
} from '../support/embedded-process.ts'
import { temporaryRoot } from '../support/postgres-server.ts'

const isRoot = process.getuid?.() === 0
const isWindows = process.platform === 'win32'

describe('the embedded database', () => {
  test('is PostgreSQL 18 in UTF-8 with checksums, on 127.0.0.1 and behind a password', async () => {
    const { connectionString } = await start(await newDirectory())

    expect(
      await ask(
        connectionString,
        `
      SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('data_checksums') AS checksums,
             current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
             pg_encoding_to_char(encoding) AS encoding, datlocprovider AS provider, datlocale AS locale
      FROM pg_database WHERE datname = current_database()`,
      ),
    ).toEqual([
      {
        version: 18,
        checksums: 'on',
        addresses: '127.0.0.1',
        sockets: '',
        encoding: 'UTF8',
        provider: 'b',
        locale: 'C.UTF-8',
      },
    ])
    if (process.platform === 'linux')
      expect(
        await ask(
          connectionString,
          `SELECT datctype AS letters FROM pg_database WHERE datname = current_database()`,
        ),
      ).toEqual([{ letters: 'C.UTF-8' }])
    const stranger = new URL(connectionString)
    stranger.password = 'guess'
    await expect(ask(stranger.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
  })

  test('keeps its data over a stop, and starts again in less than a second', async () => {
    const dataDir = await newDirectory()
    const first = await start(dataDir)
    await ask(first.connectionString, 'CREATE TABLE kept AS SELECT 7 AS number')
    await first.stop()
    expect(await isUp(first)).toBe(false)

    const since = performance.now()
    const second = await start(dataDir)
    expect(performance.now() - since).toBeLessThan(1_000)
    expect(await ask(second.connectionString, 'SELECT number FROM kept')).toEqual([{ number: 7 }])
    await Promise.all([second.stop(), second.stop()])
    await second.stop()
  })

  test.skipIf(isWindows)(
    'shows its files to nobody else, and makes a password for each directory',
    async () => {
      const [one, other] = [await newDirectory(), await newDirectory()]
      const servers = [await start(one), await start(other)]

      const cluster = await realpath(join(one, 'postgres'))
      expect(await modeOf(cluster)).toBe(0o700)
      expect(await modeOf(join(cluster, 'inlet.password'))).toBe(0o600)
      expect(await modeOf(join(cluster, 'server.log'))).toBe(0o600)
      expect((await modeOf(one)) & 0o027).toBe(0)
      const passwords = servers.map(({ connectionString }) => new URL(connectionString).password)
      expect(new Set(passwords).size).toBe(2)
      for (const password of passwords) expect(Buffer.from(password, 'base64url')).toHaveLength(32)
    },
  )

  test('is found running after its process was killed', async () => {
    const dataDir = await newDirectory()
    const killed = await startProcess(dataDir)
    await kill(killed.process)

    const server = await start(dataDir)
    expect(server.connectionString).toBe(killed.connectionString)
    await server.stop()
    expect(await isUp(server)).toBe(false)
  })

  test('recovers after both were killed while a connection was at work', async () => {
    const dataDir = await newDirectory()
    const killed = await startProcess(dataDir)
    await ask(killed.connectionString, 'CREATE TABLE kept AS SELECT 7 AS number')
    // A busy backend notices only after its statement that the server is gone, and delays the next one.
    const busy = ask(killed.connectionString, 'SELECT count(*) FROM generate_series(1, 3000000)').catch(
      () => undefined,
    )
    await sleep(50)
    process.kill(await serverPid(dataDir), 'SIGKILL')
    await kill(killed.process)

    const server = await start(dataDir)
    expect(await ask(server.connectionString, 'SELECT number FROM kept')).toEqual([{ number: 7 }])
    await busy
  })

  test('starts although the pid in a dead lock file belongs to another program now', async () => {
    const dataDir = await newDirectory()
    const first = await start(dataDir)
    const lock = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
    await first.stop()
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), lock.replace(/^\d+/, String(process.pid)))

    expect(await isUp(await start(dataDir))).toBe(true)
  })

  test('starts while the one before is still stopping', async () => {
    const dataDir = await newDirectory()
    const first = await start(dataDir)

    const [, second] = await Promise.all([first.stop(), start(dataDir)])

    expect(await isUp(second)).toBe(true)
  })

  test('is one server for two processes at once on an empty directory, until the last one stops it', async () => {
    const dataDir = await newDirectory()
    const [one, other] = await Promise.all([startProcess(dataDir), startProcess(dataDir)])
    expect(one.connectionString).toBe(other.connectionString)

    await one.stop()
    expect(await isUp(other)).toBe(true)
    await other.stop()
    expect(await isUp(other)).toBe(false)
    expect(await readdir(dataDir)).toEqual(['postgres'])
  })

  test('is left running while another process of Inlet is connected', async () => {
    const dataDir = await newDirectory()
    const server = await start(dataDir)
    const other = new pg.Client({ connectionString: server.connectionString, application_name: 'inlet' })
    await other.connect()

    await server.stop()

    expect((await other.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await other.end()
  })

  test('discards what a killed first start left', async () => {
    const dataDir = await newDirectory()
    const killed = spawnProcess(dataDir)
    while (!(await hasScratch(dataDir))) await sleep(5)
    await kill(killed)
    expect(await hasScratch(dataDir)).toBe(true)

    expect(await isUp(await start(dataDir))).toBe(true)
    expect(await hasScratch(dataDir)).toBe(false)
  })
})

describe('where the embedded database cannot run, the error explains what to do', () => {
  test.each([
    ['another major version', 'PG_VERSION', '17\n', /made by PostgreSQL 17 .* DATABASE_URL/],
    ['something else', 'notes.txt', 'mine', /not a PostgreSQL database.* DATABASE_URL/],
  ])('the directory has %s', async (_what, file, text, sentence) => {
    const dataDir = await newDirectory()
    await mkdir(join(dataDir, 'postgres'))
    await writeFile(join(dataDir, 'postgres', file), text)

    await expect(start(dataDir)).rejects.toThrow(sentence)
    expect(await readFile(join(dataDir, 'postgres', file), 'utf8')).toBe(text)
  })

  test('there are no programs for this system', () => {
    expect(() => locateBinaries({ platform: 'linux', arch: 'x64', isGlibc: false })).toThrow(/needs glibc/)
    expect(() => locateBinaries({ platform: 'aix', arch: 'ppc64', isGlibc: false })).toThrow(
      /no packaged PostgreSQL for aix/,
    )
  })
})

describe.runIf(isRoot)('started by root, the embedded database', () => {
  test('lies where its user can reach it when the data directory is closed to others', async () => {
    const closed = await newDirectory()
    const dataDir = join(closed, 'data')
    const messages: string[] = []
    const first = await start(dataDir, messages)
    await ask(first.connectionString, 'CREATE TABLE kept AS SELECT 7 AS number')
    await first.stop()

    const cluster = await realpath(join(dataDir, 'postgres'))
    expect(cluster).toMatch(/^\/var\/lib\/inlet\/[0-9a-f]{12}\/postgres$/)
    expect((await stat(cluster)).uid).not.toBe(0)
    expect(messages.filter((message) => message.includes('outside the data directory'))).toHaveLength(1)

    await chmod(closed, 0o755)
    const second = await start(dataDir)
    expect(await ask(second.connectionString, 'SELECT number FROM kept')).toEqual([{ number: 7 }])
  })

  test('stays the property of the ordinary user who made it', async ({ skip }) => {
    skip(!canRunAs(NOBODY), 'this clone is closed to other users')
    const dataDir = await newDirectory()
    await chown(dataDir, NOBODY, NOBODY)
    const ordinary = await startProcess(dataDir, { uid: NOBODY, gid: NOBODY })
    await ordinary.stop()
    expect(await modeOf(dataDir)).toBe(0o700)

    const server = await start(dataDir)
    expect((await stat(join(dataDir, 'postgres', 'postmaster.pid'))).uid).toBe(NOBODY)
    await server.stop()
    const again = await startProcess(dataDir, { uid: NOBODY, gid: NOBODY })
    await again.stop()
  })
})

const NOBODY = 65_534
const directories: string[] = []

afterEach(async () => {
  await killProcesses()
  for (const directory of directories.splice(0)) await removeAll(directory)
  // Only where no Inlet of this machine keeps anything there.
  if (isRoot) await rmdir('/var/lib/inlet').catch(() => undefined)
})

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(await temporaryRoot(), 'inlet-embedded-'))
  directories.push(directory)
  return directory
}

async function start(dataDir: string, messages: string[] = []): Promise<EmbeddedServer> {
  const note = (_obj: object, message: string) => void messages.push(message)
  return startEmbedded({ dataDir, settings: SETTINGS, log: { info: note, warn: note } })
}

async function ask(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString, application_name: 'test', connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  await client.connect()
  return client
    .query(sql)
    .then((result) => result.rows)
    .finally(() => client.end())
}

function isUp({ connectionString }: { connectionString: string }): Promise<boolean> {
  return ask(connectionString, 'SELECT 1').then(
    () => true,
    () => false,
  )
}

async function hasScratch(dataDir: string): Promise<boolean> {
  return (await readdir(dataDir)).some((name) => name.includes('.new-'))
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777
}

async function serverPid(dataDir: string): Promise<number> {
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
