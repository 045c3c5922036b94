import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encryptionKeyIn } from '../../src/db/embedded/encryption-key.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-key-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('the key beside an embedded database is made once, readable by its owner alone', async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => encryptionKeyIn(folder)))
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1)
  expect(keys[0]).toHaveLength(32)
  expect(await encryptionKeyIn(folder)).toEqual(keys[0])
  expect(await readdir(folder)).toEqual(['encryption.key'])
  expect((await stat(join(folder, 'encryption.key'))).mode & 0o777).toBe(0o600)
})

test('a file without a key is not replaced: what it encrypted would be lost', async () => {
  await writeFile(join(folder, 'encryption.key'), 'nonsense')
  await expect(encryptionKeyIn(folder)).rejects.toThrow('does not hold a key')
})
