import { copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { beginKeyChange, encryptionKeysIn, endKeyChange } from '../../src/db/embedded/encryption-key.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-key-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const file = () => join(folder, 'encryption.key')
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

test('the key beside an embedded database is made once, readable by its owner alone', async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => encryptionKeysIn(folder)))
  expect(new Set(keys.map(([key]) => key.toString('hex'))).size).toBe(1)
  expect(keys[0]?.[0]).toHaveLength(32)
  expect(await encryptionKeysIn(folder)).toEqual(keys[0])
  expect(await readdir(folder)).toEqual(['encryption.key'])
  expect(await modeOf(file())).toBe(0o600)
})

test('a file without a key is not replaced: what it encrypted would be lost', async () => {
  await writeFile(file(), 'nonsense')
  await expect(encryptionKeysIn(folder)).rejects.toThrow('does not hold a key')
})

describe('a change of the key', () => {
  test('encrypts with a new key, decrypts with both until its end, and keeps the previous one', async () => {
    const [first] = await encryptionKeysIn(folder)
    const keys = await beginKeyChange(folder)
    expect(keys).toEqual([expect.any(Buffer), first])
    expect(keys[0].equals(first)).toBe(false)
    expect(await encryptionKeysIn(folder)).toEqual(keys)
    expect((await readdir(folder)).sort()).toEqual(['encryption.key', 'encryption.key.previous'])
    expect(await Promise.all([file(), `${file()}.previous`].map(modeOf))).toEqual([0o600, 0o600])

    const kept = await endKeyChange(folder)
    expect(await encryptionKeysIn(folder)).toEqual([keys[0]])
    expect((await readFile(kept, 'utf8')).trim()).toBe(first.toString('hex'))
    expect(await modeOf(kept)).toBe(0o600)
  })

  test('that ended before the new key was in its place begins again', async () => {
    const [first] = await encryptionKeysIn(folder)
    await copyFile(file(), `${file()}.previous`)
    await writeFile(`${file()}.new`, 'half a k')
    expect(await encryptionKeysIn(folder)).toEqual([first, first])

    const keys = await beginKeyChange(folder)
    expect(keys).toEqual([expect.any(Buffer), first])
    expect(keys[0].equals(first)).toBe(false)
    expect((await readdir(folder)).sort()).toEqual(['encryption.key', 'encryption.key.previous'])
  })

  test('that was interrupted later continues with the same keys', async () => {
    await encryptionKeysIn(folder)
    const keys = await beginKeyChange(folder)
    expect(await beginKeyChange(folder)).toEqual(keys)
  })
})
