import { afterAll, describe, expect, test } from 'vitest'
import { CLEAR_TEXT } from '../src/start-text.ts'
import { startApp } from './support/app.ts'
import { spawnCommand } from './support/commands.ts'
import { newDirectory, removeEmbedded } from './support/embedded-servers.ts'
import { emptyDatabase, freshDatabase } from './support/postgres.ts'
import { SENDING_ENV, webhookTo } from './support/webhooks.ts'

afterAll(removeEmbedded)

test.each([
  ['a container', {}, 'docker compose run --rm inlet keys create --admin'],
  [
    'Kubernetes',
    { KUBERNETES_SERVICE_HOST: '10.96.0.1' },
    'kubectl -n inlet exec deployment/inlet -- node src/cli.ts keys create --admin',
  ],
])('start starts the server, as in %s, and says how to get a key there', async (_, place, command) => {
  const { connectionString, drop } = await freshDatabase()
  const listening = { HOST: '0.0.0.0', PORT: '0' }
  const env = { DATABASE_URL: connectionString, BOOTSTRAP_API_KEY: 'b'.repeat(32), ...listening, ...place }
  const { process, ended, output } = spawnCommand(['start'], { env })
  await expect.poll(output).toContain(`create one:\n  ${command}\n`)
  expect(output()).toContain('Inlet is running at http://localhost:')
  process.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
  // The log is written a little later than what is printed.
  const warnings = output()
    .split('\n')
    .filter((line) => line.includes('sent unencrypted'))
  expect(warnings.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, host: '0.0.0.0', msg: CLEAR_TEXT },
  ])
  await drop()
})

test.each([
  ['start', ['start']],
  ['npm run keys -- create --admin', ['keys', 'create', '--admin']],
])('%s says what it turned off in a database that was restored', async (_name, words) => {
  // A copy of another database, as a restored dump is.
  const { connectionString, drop } = await freshDatabase()
  const { process, ended, output } = spawnCommand(words, {
    env: { DATABASE_URL: connectionString, PORT: '0' },
  })
  await expect.poll(output).toMatch(/restored from a backup.*write-back and outgoing webhooks are off/i)
  process.kill('SIGTERM')
  await ended
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

describe('npm run after-restore', () => {
  test('turns off what a restore turns off, once no instance runs', async () => {
    const { connectionString, drop } = await freshDatabase()
    const run = () => spawnCommand(['after-restore'], { env: { DATABASE_URL: connectionString } }).ended
    const app = await startApp({ connectionString, env: SENDING_ENV })
    const webhook = await webhookTo(app, { url: 'http://127.0.0.1:9/' })
    const project = await app.given.project()
    await app.given.connection(project.id, { writeBack: 'state' })
    const { nextCursor } = (await app.get('/api/changes')).body
    const [before] = await app.query('select epoch from change_feed')

    expect(await run()).toEqual({
      code: 1,
      output: 'Inlet is running with this database. Stop all instances, then run this again.\n',
    })
    expect(await app.query('select epoch from change_feed')).toEqual([before])
    expect((await app.get(`/api/webhooks/${webhook.id}`)).body).toMatchObject({ isActive: true })
    await app.close()

    const { code, output } = await run()
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringContaining('Turned off: 1 outgoing webhooks, and write-back of 1 projects.'),
    })
    expect(await run()).toMatchObject({
      code: 0,
      output: expect.stringContaining('off: 0 outgoing'),
    })

    const later = await startApp({ connectionString, env: SENDING_ENV })
    const off = (await later.get(`/api/webhooks/${webhook.id}`)).body
    expect(off).toMatchObject({ isActive: false, disabledReason: 'restored' })
    const connection = (await later.get(`/api/projects/${project.id}/codehost`)).body
    expect(connection).toMatchObject({ writeBack: 'off' })
    const { status, body } = await later.get(`/api/changes?cursor=${nextCursor}`)
    expect([status, body.code]).toEqual([400, 'invalid_cursor'])
    await later.close()
    await drop()
  })
})
