import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encryptionKeyIn } from '../src/db/embedded/encryption-key.ts'
import { startApp } from './support/app.ts'
import { spawnCommand } from './support/commands.ts'
import { newDirectory, removeEmbedded, start } from './support/embedded-servers.ts'
import { emptyDatabase, freshDatabase } from './support/postgres.ts'

afterAll(removeEmbedded)

describe('npm run backup and npm run restore', () => {
  let dataDir: string
  let folder: string

  beforeAll(async () => {
    dataDir = await newDirectory()
    folder = await newDirectory()
    await start(dataDir)
    await encryptionKeyIn(dataDir)
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
    await encryptionKeyIn(other)
    const another = await run(['restore', file, '--move-existing'], { dataDir: other })
    expect(another.output).toMatch(/^The previous database is in .*postgres\.before-restore-/m)
    expect(another.output).toContain('is not the key that the backup was made with')
    await writeFile(join(other, 'encryption.key'), await readFile(join(dataDir, 'encryption.key')))
    const same = await run(['restore', file, '--move-existing'], { dataDir: other })
    expect(same.output).not.toContain('encryption.key')
  })

  test('resolve the file in the folder that npm was called in', async () => {
    const env = { npm_lifecycle_event: 'backup', INIT_CWD: folder }
    const { output } = await run(['backup', 'here.tar.gz'], { env })
    expect(output).toContain(`The backup is in ${join(folder, 'here.tar.gz')}`)
  })

  test.each([
    ['no file', ['backup'], {}, 'npm run backup -- FILE'],
    ['an unknown command', ['remove'], {}, 'npm run backup -- FILE'],
    ['an unknown option', ['restore', 'x', '--force'], {}, '--force'],
    ['a database of your own', ['backup', 'x'], { DATABASE_URL: 'postgres://h/inlet' }, 'Use pg_dump.'],
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

test('start starts the server, as in a container, and says how to get a key there', async () => {
  const { connectionString, drop } = await freshDatabase()
  const env = { DATABASE_URL: connectionString, PORT: '0', BOOTSTRAP_API_KEY: 'b'.repeat(32) }
  const { process, ended, output } = spawnCommand(['start'], { env })
  await expect.poll(output).toContain('docker compose run --rm inlet keys create --admin')
  expect(output()).toContain('Inlet is running at http://127.0.0.1:')
  process.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
  await drop()
})

describe('npm run keys -- create --admin', () => {
  test('creates an admin key beside those there are, and logs it', async () => {
    const app = await startApp()
    const { code, output } = await createKey(app.connectionString, '--name', 'From the shell')

    expect({ code, keys: keysIn(output) }).toEqual({ code: 0, keys: [expect.any(String)] })
    const [key = ''] = keysIn(output)
    const me = await app.get('/api/me', { key })
    expect(me.body).toMatchObject({ name: 'From the shell', scopes: ['admin'], projectId: null })
    const { body } = await app.get('/api/activity?type=key.created')
    expect(body.data).toMatchObject([
      {
        actor: { type: 'system', name: 'Inlet' },
        metadata: { keyName: 'From the shell', scopes: ['admin'] },
      },
    ])
    await app.close()
  })

  test('works before the first start, which then has nothing left to show', async () => {
    const { connectionString, drop } = await emptyDatabase()
    const first = await createKey(connectionString)
    expect(keysIn(first.output)).toHaveLength(1)
    expect(first.output).toMatch(/Webhook secret \(shown only once\):\n {2}inlw_\S+\n/)

    const second = await createKey(connectionString)
    expect(keysIn(second.output)).toHaveLength(1)
    expect(second.output).not.toContain('Webhook secret')
    await drop()
  })

  test('says what is missing', async () => {
    const dataDir = await newDirectory()
    const none = await spawnCommand(['keys', 'create', '--admin'], { dataDir }).ended
    expect(none).toEqual({ code: 1, output: `There is no database in ${dataDir}.\n` })
    const { connectionString, drop } = await freshDatabase()
    const notAdmin = await spawnCommand(['keys', 'create'], { env: { DATABASE_URL: connectionString } }).ended
    expect(notAdmin.output).toContain('npm run keys -- create --admin')
    await drop()
  })

  const createKey = (connectionString: string, ...words: string[]) =>
    spawnCommand(['keys', 'create', '--admin', ...words], { env: { DATABASE_URL: connectionString } }).ended

  const keysIn = (output: string) => output.match(/(?<=^ {2})inl_\S+$/gm) ?? []
})
