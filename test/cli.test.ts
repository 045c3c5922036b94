import { afterAll, describe, expect, test } from 'vitest'
import { startApp } from './support/app.ts'
import { spawnCommand } from './support/commands.ts'
import { newDirectory, removeEmbedded } from './support/embedded-servers.ts'
import { emptyDatabase, freshDatabase } from './support/postgres.ts'

afterAll(removeEmbedded)

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
