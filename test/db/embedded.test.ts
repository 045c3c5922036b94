import { readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { isLocked } from '../../src/db/embedded/folder-lock.ts'
import { kill, spawnProcess, startProcess } from '../support/embedded-process.ts'
import { ask, modeOf, newDirectory, removeEmbedded, serverPid, start } from '../support/embedded-servers.ts'
import { childrenOf, send } from '../support/inlet-process.ts'

const isWindows = process.platform === 'win32'

afterEach(removeEmbedded)

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

  test('is stopped also while its processes crash, one after another', async () => {
    const dataDir = await newDirectory()
    const server = await start(dataDir)
    const pid = await serverPid(dataDir)
    let crashes = 0
    const crashing = setInterval(() => {
      const [newest] = childrenOf(pid).toReversed()
      if (newest && crashes++ < 8) send(newest, 'SIGKILL')
    }, 50)

    await sleep(200)
    await server.stop()

    clearInterval(crashing)
    await expect(serverPid(dataDir)).rejects.toMatchObject({ code: 'ENOENT' })
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
    const scratch = join(dataDir, await scratchInUse(dataDir))
    await kill(killed)
    await expect.poll(() => isLocked(scratch)).toBe(false)

    expect(await isUp(await start(dataDir))).toBe(true)
    expect(await readdir(dataDir)).toEqual(['postgres'])
  })
})
function isUp({ connectionString }: { connectionString: string }): Promise<boolean> {
  return ask(connectionString, 'SELECT 1').then(
    () => true,
    () => false,
  )
}

/** The name of the folder in which the database is being made. */
async function scratchInUse(dataDir: string): Promise<string> {
  for (;;) {
    const name = (await readdir(dataDir)).find((each) => each.includes('.new-'))
    if (name && (await readdir(join(dataDir, name))).length > 0) return name
    await sleep(5)
  }
}
