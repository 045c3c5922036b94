import { execFileSync } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backUp } from '../../src/db/embedded/backup.ts'
import { ABOUT, backedUp, OPTIONS, restoreInto } from '../support/backups.ts'
import { killAt, spawnCommand } from '../support/commands.ts'
import { ask, modeOf, newDirectory, removeEmbedded, start } from '../support/embedded-servers.ts'

let source: Awaited<ReturnType<typeof backedUp>>

beforeAll(async () => {
  source = await backedUp()
})
afterAll(removeEmbedded)

describe('a backup of a database in use', () => {
  test('has everything that was committed before it began, and no gap after it', async () => {
    const dataDir = await newDirectory()
    const restored = await restoreInto(dataDir, source)
    const { connectionString } = await start(dataDir)
    const [row] = (await ask(connectionString, 'SELECT count(*)::int, max(number) FROM kept')) as {
      count: number
      max: number
    }[]
    expect(row?.count).toBe(row?.max)
    expect(row?.max).toBeGreaterThanOrEqual(source.acknowledgedBefore)
    expect(restored).toMatchObject({ header: ABOUT, movedTo: undefined })
    expect(await readdir(dataDir)).toEqual(['postgres'])
  })

  test('can be read by its owner only, and has no lock, log, or socket of the running server', async () => {
    expect(await modeOf(source.file)).toBe(0o600)
    const names = execFileSync('tar', ['-tzf', source.file], { encoding: 'utf8' }).split('\n')
    expect(names).toContain('postgres/inlet.password')
    expect(names).toContain('postgres/backup_label')
    expect(names.filter((name) => /postmaster|server\.log|pg_replslot\/./.test(name))).toEqual([])
  })

  test('leaves nothing behind in the database that would keep the write-ahead log', async () => {
    expect(await ask(source.connectionString, 'SELECT slot_name FROM pg_replication_slots')).toEqual([])
  })

  test('starts the database if it does not run, and stops it again', async () => {
    const dataDir = await newDirectory()
    const server = await start(dataDir)
    await ask(server.connectionString, 'CREATE TABLE kept AS SELECT 7 AS number')
    await server.stop()
    const file = join(await newDirectory(), 'inlet.tar.gz')

    await backUp({ dataDir, file, about: ABOUT, ...OPTIONS })

    expect(await readdir(join(dataDir, 'postgres'))).not.toContain('postmaster.pid')
    const other = await newDirectory()
    await restoreInto(other, { file })
    const { connectionString } = await start(other)
    expect(await ask(connectionString, 'SELECT number FROM kept')).toEqual([{ number: 7 }])
  })

  test('that is killed leaves no file of its name, and the next one works', async () => {
    const folder = await newDirectory()
    const file = join(folder, 'inlet.tar.gz')
    // Not the empty file that finds out whether it can be written there.
    const hasContent = async () => {
      const [name] = await readdir(folder)
      const found = name && (await stat(join(folder, name)).catch(() => undefined))
      return Boolean(found && found.size > 0)
    }
    await killAt(spawnCommand(['backup', file], source), hasContent)
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^inlet\.tar\.gz\.new-/)])

    await backUp({ dataDir: source.dataDir, file, about: ABOUT, ...OPTIONS })

    expect(await readdir(folder)).toEqual(['inlet.tar.gz'])
    await expect
      .poll(() => ask(source.connectionString, 'SELECT slot_name FROM pg_replication_slots'))
      .toEqual([])
  })

  test('is refused where there is no database, no folder, or a file already', async () => {
    const nothing = await newDirectory()
    const options = { about: ABOUT, ...OPTIONS }
    const { dataDir, file } = source
    const free = join(nothing, 'inlet.tar.gz')
    await expect(backUp({ ...options, dataDir: nothing, file: free })).rejects.toThrow('There is no database')
    await expect(backUp({ ...options, dataDir, file })).rejects.toThrow('already exists')
    const inNoFolder = join(nothing, 'no/inlet.tar.gz')
    await expect(backUp({ ...options, dataDir, file: inNoFolder })).rejects.toThrow("doesn't exist")
    expect(await readdir(nothing)).toEqual([])
  })
})
