import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { locateBinaries } from '../../src/db/embedded/binaries.ts'
import { canRunAs, spawnProcess, startProcess } from '../support/embedded-process.ts'
import { ask, modeOf, newDirectory, removeEmbedded, start } from '../support/embedded-servers.ts'

const isRoot = process.getuid?.() === 0

afterEach(async () => {
  await removeEmbedded()
  // Only where no Inlet of this machine keeps anything there.
  if (isRoot) await rmdir('/var/lib/inlet').catch(() => undefined)
})

describe('where the embedded database cannot run, the error explains what to do', () => {
  test.each([
    ['another major version', 'PG_VERSION', '17\n', /made by PostgreSQL 17 .*dump it with version 17/],
    ['something else', 'notes.txt', 'mine', /not a PostgreSQL database: move it away/],
  ])('the directory has %s', async (_what, file, text, sentence) => {
    const dataDir = await newDirectory()
    await mkdir(join(dataDir, 'postgres'))
    await writeFile(join(dataDir, 'postgres', file), text)

    await expect(start(dataDir)).rejects.toThrow(sentence)
    expect(await readFile(join(dataDir, 'postgres', file), 'utf8')).toBe(text)
  })

  test('a restore was killed after it renamed the database', async () => {
    const dataDir = await newDirectory()
    const moved = join(await realpath(dataDir), 'postgres.before-restore-20261122T120000Z')
    await mkdir(moved)

    await expect(start(dataDir)).rejects.toThrow(`mv ${moved} ${join(await realpath(dataDir), 'postgres')}`)
    expect(await readdir(dataDir)).toEqual(['postgres.before-restore-20261122T120000Z'])
  })

  test('DATA_DIR is a file, or below one', async () => {
    const file = join(await newDirectory(), 'file')
    await writeFile(file, '')
    for (const dataDir of [file, join(file, 'data')]) {
      const message = `The embedded database cannot be used: ${file} is a file or a link to nothing, is below one, or is on a read-only file system: set DATA_DIR to a folder that can be written.`
      await expect(start(dataDir)).rejects.toThrow(message.replace(file, dataDir))
    }
  })

  test('DATA_DIR is a link to nothing, or below one', async () => {
    const directory = await newDirectory()
    const link = join(directory, 'link')
    await symlink(join(directory, 'missing'), link)
    for (const dataDir of [link, join(link, 'data')]) {
      await expect(start(dataDir)).rejects.toThrow(
        `${link} is a file or a link to nothing, is below one, or is on a read-only file system: set DATA_DIR to a folder that can be written.`,
      )
    }
    expect(await readdir(directory)).toEqual(['link'])
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

    const away = `${cluster}.away`
    await rename(cluster, away)
    await expect(start(dataDir)).rejects.toThrow(`is a link to the database in ${cluster}, where nothing is`)
    await rename(away, cluster)

    await chmod(closed, 0o755)
    const second = await start(dataDir)
    expect(await ask(second.connectionString, 'SELECT number FROM kept')).toEqual([{ number: 7 }])
  })

  test('refuses a folder that its user may not use, with both names', async ({ skip }) => {
    skip(!canRunAs(NOBODY), 'this clone is closed to other users')
    const dataDir = await newDirectory()
    await chmod(dataDir, 0o700)
    const { stderr } = spawnProcess(dataDir, { uid: NOBODY, gid: NOBODY })
    expect(await text(stderr)).toContain(
      `The embedded database cannot be used: the user nobody (id ${NOBODY}) may not use ${dataDir}: run Inlet as the user that owns it, or set DATA_DIR to a folder of that user.`,
    )
  })

  test('whose files belong to somebody else names the folder and its user', async () => {
    const dataDir = await newDirectory()
    await chmod(dataDir, 0o711)
    const server = await start(dataDir)
    await server.stop()
    const { uid } = await stat(join(dataDir, 'postgres'))
    await chown(join(dataDir, 'postgres', 'global', 'pg_control'), 0, 0)

    await expect(start(dataDir)).rejects.toThrow(
      new RegExp(
        `files in .*postgres do not belong to the user with id ${uid}.*: run chown -R ${uid} .*postgres\\.$`,
      ),
    )
    expect((await stat(join(dataDir, 'postgres', 'global', 'pg_control'))).uid).toBe(0)
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
