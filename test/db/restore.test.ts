import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BackupHeader, FORMAT, seal } from '../../src/db/embedded/backup-format.ts'
import { concat, packTar, type TarEntry } from '../../src/lib/tar.ts'
import { ABOUT, backedUp, restoreInto } from '../support/backups.ts'
import { killAt, spawnCommand } from '../support/commands.ts'
import { newDirectory, removeEmbedded } from '../support/embedded-servers.ts'

const HEADER: BackupHeader = {
  ...ABOUT,
  format: FORMAT,
  createdAt: '2026-11-22T12:00:00.000Z',
  postgresql: 18,
  bytes: 1_000,
}

let source: Awaited<ReturnType<typeof backedUp>>

beforeAll(async () => {
  source = await backedUp()
})
afterAll(removeEmbedded)

describe('a restore', () => {
  test('refuses a database that runs, and one that is there', async () => {
    await expect(restoreInto(source.dataDir, source)).rejects.toThrow('is running. Stop Inlet first.')

    const there = await newDirectory()
    await restoreInto(there, source)
    await expect(restoreInto(there, source)).rejects.toThrow('add --move-existing')
    expect(await readdir(there)).toEqual(['postgres'])
  })

  test('moves the database that is there only if it is asked to', async () => {
    const there = await newDirectory()
    await restoreInto(there, source)
    await writeFile(join(there, 'postgres', 'mark'), 'the previous one')

    const { movedTo } = await restoreInto(there, { ...source, movesExisting: true })

    expect(await readFile(join(movedTo ?? '', 'mark'), 'utf8')).toBe('the previous one')
    expect(await readdir(join(there, 'postgres'))).not.toContain('mark')
  })

  test.each([
    ['while it unpacks', /^global$/],
    ['while the database recovers', /^postmaster\.pid$/],
  ])('that is killed %s leaves no database, and the next one works', async (_when, name) => {
    const dataDir = await newDirectory()
    await killAt(spawnCommand(['restore', source.file], { dataDir }), async () => {
      const [scratch] = await readdir(dataDir)
      const names = scratch ? await readdir(join(dataDir, scratch, 'data')).catch(() => []) : []
      return names.some((each) => name.test(each))
    })
    expect(await readdir(dataDir)).toEqual([expect.stringMatching(/^postgres\.new-/)])

    await restoreInto(dataDir, source)

    expect(await readdir(dataDir)).toEqual(['postgres'])
  })

  test('refuses a truncated or damaged file, and leaves nothing', async () => {
    const whole = await readFile(source.file)
    const damaged = Buffer.from(whole)
    const middle = Math.floor(whole.length / 2)
    damaged.fill(0, middle, middle + 10)
    const files = [0, 5, 1_000, middle, whole.length - 4].map((end) => whole.subarray(0, end))
    for (const content of [...files, damaged]) await expectRefusal(content, /cannot be restored\. It /)
  })

  test.each<[string, Partial<BackupHeader>, RegExp]>([
    ['another PostgreSQL', { postgresql: 17 }, /PostgreSQL 17, and this version has PostgreSQL 18/],
    ['a newer Inlet', { format: FORMAT + 1, version: '9.0.0' }, /made by Inlet 9\.0\.0/],
    ['a database larger than the disk', { bytes: 2 ** 52 }, /has [\d,]+ MB left/],
    ['an interrupted backup', {}, /PostgreSQL cannot use/],
  ])('refuses the backup of %s', async (_what, header, sentence) => {
    const archive = await concat(packTar(seal({ ...HEADER, ...header }, noFiles())))
    await expectRefusal(gzipSync(archive), sentence)
  })

  test('refuses what is no backup, and files outside of the database', async () => {
    await expectRefusal(gzipSync(await concat(packTar(oneFile('some.txt')))), /not a backup of Inlet/)
    const outside = packTar(seal(HEADER, oneFile('postgres/../../outside')))
    await expectRefusal(gzipSync(await concat(outside)), /not expected/)
  })
})

async function expectRefusal(content: Buffer, sentence: RegExp): Promise<void> {
  const dataDir = await newDirectory()
  const bad = join(await newDirectory(), 'bad.tar.gz')
  await writeFile(bad, content)
  await expect(restoreInto(dataDir, { file: bad })).rejects.toThrow(sentence)
  expect(await readdir(dataDir)).toEqual([])
}

async function* noFiles(): AsyncGenerator<TarEntry> {}

async function* oneFile(path: string): AsyncGenerator<TarEntry> {
  yield { path, size: 0, content: noPieces() }
}

async function* noPieces(): AsyncGenerator<Buffer> {}
