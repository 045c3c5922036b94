import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encryptionKeysIn } from '../src/db/embedded/encryption-key.ts'
import { spawnCommand } from './support/commands.ts'
import { newDirectory, removeEmbedded, start } from './support/embedded-servers.ts'

afterAll(removeEmbedded)

describe('npm run backup and npm run restore', () => {
  let dataDir: string
  let folder: string

  beforeAll(async () => {
    dataDir = await newDirectory()
    folder = await newDirectory()
    await start(dataDir)
    await encryptionKeysIn(dataDir)
  })

  test('name the encryption key, which is not in the backup, and say when it is missing or another one', async () => {
    const file = join(folder, 'inlet.tar.gz')
    const backup = await run(['backup', file])
    expect(backup).toMatchObject({ code: 0 })
    expect(backup.output).toContain(`The backup is in ${file} (`)
    expect(backup.output).toContain(`Keep a copy of ${join(dataDir, 'encryption.key')} in another place`)

    const other = await newDirectory()
    const missing = await run(['restore', file], { dataDir: other })
    expect(missing).toMatchObject({ code: 0 })
    expect(missing.output).toContain(`${join(other, 'encryption.key')} is missing.`)
    await encryptionKeysIn(other)
    const another = await run(['restore', file, '--move-existing'], { dataDir: other })
    expect(another.output).toMatch(/^The previous database is in .*postgres\.before-restore-/m)
    expect(another.output).toContain('is not the key that the backup was made with')
    expect(another.output).toContain('set ENCRYPTION_KEY_PREVIOUS to the key of the backup instead')
    const [key = ''] = (await readFile(join(dataDir, 'encryption.key'), 'utf8')).split('\n')
    const env = { ENCRYPTION_KEY_PREVIOUS: key }
    const both = await run(['restore', file, '--move-existing'], { dataDir: other, env })
    expect(both.output).not.toContain('encryption.key')
    await writeFile(join(other, 'encryption.key'), await readFile(join(dataDir, 'encryption.key')))
    const same = await run(['restore', file, '--move-existing'], { dataDir: other })
    expect(same.output).not.toContain('encryption.key')
  })

  test('resolve the file in the folder that npm was called in', async () => {
    const env = { npm_lifecycle_event: 'backup', INIT_CWD: folder }
    const { output } = await run(['backup', 'here.tar.gz'], { env })
    expect(output).toContain(`The backup is in ${join(folder, 'here.tar.gz')}`)
  })

  test('say that a folder takes no files', async () => {
    // Not even those of root.
    const { code, output } = await run(['backup', '/sys/x.tar.gz'])
    expect(code).toBe(1)
    expect(output).toMatch(
      /^Files can't be created in the folder \/sys \(E[A-Z]+\)\. Run this as a user who can/,
    )
  })

  test.each([
    ['no file', ['backup'], {}, 'npm run backup -- FILE'],
    ['an unknown command', ['remove'], {}, 'npm run backup -- FILE'],
    ['an unknown option', ['restore', 'x', '--force'], {}, "Unknown option '--force'.\nUsage:\n"],
    ['a database of your own', ['backup', 'x'], { DATABASE_URL: 'postgres://h/inlet' }, 'Use pg_dump.'],
    ['a folder that is not there', ['backup', '/nowhere/x.tar.gz'], {}, "The folder /nowhere doesn't exist."],
    ['a file that is not there', ['restore', '/nowhere/x.tar.gz'], {}, '/nowhere/x.tar.gz'],
    ['an invalid variable', ['backup', 'x'], { PORT: 'x' }, 'PORT must be a port number'],
  ])('say what is wrong with %s', async (_what, words, env, sentence) => {
    const { code, output } = await run(words, { dataDir: join(folder, 'other'), env })
    expect(code).toBe(1)
    expect(output).toContain(sentence)
    expect(output).not.toContain('    at ')
  })

  function run(words: string[], { dataDir: at = dataDir, env = {} } = {}) {
    return spawnCommand(words, { dataDir: at, env }).ended
  }
})
