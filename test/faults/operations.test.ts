import { copyFile, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOST_TOKEN, repositoryOf } from '../dumps/fill.ts'
import { type Api, api } from '../support/api-client.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'
import { DUMPS, type Dump, loadDump } from '../support/dumps.ts'
import { feedback, sender } from '../support/feedback.ts'
import { cleanUp, killServer, newDataDir } from '../support/inlet-process.ts'
import { addressOf, adminKeyIn, killGroup, killNpm, type NpmProcess, spawnNpm, stop } from '../support/npm.ts'
import { emptyDatabase, withAdmin } from '../support/postgres.ts'

/** What was run, as an operator types it. */
const typed: string[] = []

let host: CodeHostFake
beforeAll(async () => {
  host = await startCodeHost({ tokens: { [HOST_TOKEN]: {} } })
  repositoryOf(host)
})
afterAll(async () => {
  killNpm()
  await cleanUp()
  await host.close()
})

describe('an installation with the embedded database', () => {
  let dataDir: string
  let env: Record<string, string>
  let inlet: NpmProcess
  let client: Api
  /** What the first start prints. */
  let adminKey: string
  let webhookSecret: string
  let taskId: string
  let projectId: string
  /** Of the changes before the backup. */
  let cursor: string
  const backup = () => join(dirname(dataDir), 'inlet.tar.gz')
  const keyCopy = () => join(dirname(dataDir), 'copy of encryption.key')

  beforeAll(async () => {
    dataDir = await newDataDir()
    const home = dirname(dataDir)
    env = { ...environmentOf(host), DATA_DIR: dataDir, HOME: home, npm_config_cache: join(home, 'npm') }
  })

  async function start(): Promise<void> {
    inlet = startInlet(env)
    client = api({ url: await addressOf(inlet), key: adminKey })
  }
  const npm = (...words: string[]) => run(words, env)

  test('prints its address, an admin key, and a webhook secret when it starts first', async () => {
    await start()

    adminKey = adminKeyIn(inlet.output())
    webhookSecret = /^Webhook secret \(shown only once\):\n {2}(\S+)$/m.exec(inlet.output())?.[1] ?? ''
    client = api({ url: client.url, key: adminKey })
    expect(await client.get('/api/me')).toMatchObject({ scopes: ['admin'] })
  })

  test('gets another admin key while it runs', async () => {
    const { code, output } = await npm('run', 'keys', '--', 'create', '--admin')

    expect(code).toBe(0)
    adminKey = adminKeyIn(output)
    client = api({ url: client.url, key: adminKey })
    expect(await client.get('/api/me')).toMatchObject({ scopes: ['admin'] })
  })

  test('turns feedback into a task', async () => {
    const send = sender(client.url, webhookSecret)

    const { status, body } = await send(feedback({ note: 'Die Schaltfläche fehlt' }))

    expect(status).toBe(201)
    taskId = body.taskId
    expect(await client.get(`/api/tasks/${taskId}`)).toMatchObject({ title: 'Die Schaltfläche fehlt' })
  })

  test('is backed up while it runs', async () => {
    await client.post('/api/rules', { content: 'Réponds en français.' })
    await client.post('/api/webhooks', { name: 'Chat', url: 'http://127.0.0.1:9/', types: ['rule.updated'] })
    ;({ id: projectId } = await client.post('/api/projects', { name: 'Web' }))
    await connect(client, projectId)
    ;({ nextCursor: cursor } = await client.get('/api/changes'))

    const { code, output } = await npm('run', 'backup', '--', backup())

    expect(code).toBe(0)
    expect(output).toContain(`The backup is in ${backup()}`)
    const [, key = ''] = /Keep a copy of (\S+) in another place/.exec(output) ?? []
    await copyFile(key, keyCopy())
  })

  test('is restored after its disk was lost', async () => {
    const { id: late } = await client.post('/api/tasks', { title: 'After the backup' })
    await killGroup(inlet)
    await killServer(dataDir)
    await rm(dataDir, { recursive: true })

    const { code, output } = await npm('run', 'restore', '--', backup())
    expect(code).toBe(0)
    expect(output).toContain(`Restored the database in ${dataDir}, as it was at `)
    expect(output).toContain('is missing. Before you start Inlet, put the key of the backup there')
    await copyFile(keyCopy(), join(dataDir, 'encryption.key'))
    await start()

    expect(inlet.output()).toContain('restored from a backup: write-back and outgoing webhooks are off')
    expect(await client.get(`/api/tasks/${taskId}`)).toMatchObject({ title: 'Die Schaltfläche fehlt' })
    expect((await client.get('/api/rules')).data).toMatchObject([{ content: 'Réponds en français.' }])
    await expect(client.get(`/api/tasks/${late}`)).rejects.toThrow('task_not_found')
    await expectSwitchedOff()
  })

  test('switches off what it sends, and ends cursors, on a command', async () => {
    const [webhook] = (await client.get('/api/webhooks')).data
    await client.patch(`/api/webhooks/${webhook.id}`, { isActive: true })
    await connect(client, projectId)
    ;({ nextCursor: cursor } = await client.get('/api/changes'))
    await stop(inlet)

    const { code, output } = await npm('run', 'after-restore')
    await start()

    expect(code).toBe(0)
    expect(output).toContain('Turned off: 1 outgoing webhooks, and write-back of 1 projects.')
    await expectSwitchedOff()
  })

  test('gets another encryption key, and still decrypts', async () => {
    await stop(inlet)

    const { code, output } = await npm('run', 'keys', '--', 'rotate-encryption')
    await start()

    expect(code).toBe(0)
    // The token, the secret of the connection, and that of the webhook.
    expect(output).toContain('Encrypted 3 stored tokens and secrets with the new key (0 had it already).')
    expect(output).toContain(`The new key is in ${join(dataDir, 'encryption.key')}.`)
    expect(await sync(client, projectId)).toMatchObject({ status: 'completed', error: null })
    await stop(inlet)
  })

  async function expectSwitchedOff(): Promise<void> {
    const { data: webhooks } = await client.get('/api/webhooks')
    expect(webhooks).toMatchObject([{ isActive: false, disabledReason: 'restored' }])
    expect(await client.get(`/api/projects/${projectId}/codehost`)).toMatchObject({ writeBack: 'off' })
    await expect(client.get(`/api/changes?cursor=${cursor}`)).rejects.toThrow('invalid_cursor')
    expect(await sync(client, projectId)).toMatchObject({ status: 'completed', error: null })
  }
})

describe('an installation with a database of its own', () => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>
  let dump: Dump
  let env: Record<string, string>
  let first: Api
  /** Those that run, oldest first. */
  const instances: { npm: NpmProcess; client: Api }[] = []

  beforeAll(async () => {
    database = await emptyDatabase()
    const { connectionString } = database
    const [oldest = ''] = DUMPS
    dump = await loadDump(oldest, { connectionString, hostUrl: host.url, receiverUrl: 'http://127.0.0.1:9/' })
    const home = dirname(await newDataDir())
    env = {
      ...environmentOf(host),
      DATABASE_URL: connectionString,
      ENCRYPTION_KEY: dump.encryptionKey,
      HOME: home,
      npm_config_cache: join(home, 'npm'),
    }
  })
  afterAll(async () => {
    killNpm()
    await database.drop()
  })

  async function start(): Promise<Api> {
    const npm = startInlet(env)
    const client = api({ url: await addressOf(npm), key: dump.adminKey })
    instances.push({ npm, client })
    return client
  }
  async function stopOne(): Promise<void> {
    const instance = instances.shift()
    if (instance) await stop(instance.npm)
  }

  /** One after another; between them, an instance with the changes runs beside one without. */
  async function restartEach(
    changes: Record<string, string>,
    onRestart = async (_restarted: Api): Promise<void> => {},
  ): Promise<void> {
    env = { ...env, ...changes }
    for (let left = instances.length; left > 0; left--) {
      await stopOne()
      await onRestart(await start())
    }
  }

  test('is upgraded from the oldest version', async () => {
    first = await start()

    expect(await first.get(`/api/tasks/${dump.idempotent.id}`)).toMatchObject(dump.idempotent.body)
    expect((await first.get(`/api/tasks?q=${encodeURIComponent('Straße')}`)).data).toHaveLength(1)
  })

  test('gets a second instance, and each sees what the other changes', async () => {
    const second = await start()
    const { nextCursor } = await second.get('/api/changes')
    const waiting = second.get(`/api/changes?cursor=${nextCursor}&wait=60`)

    const { id } = await first.post('/api/tasks', { title: 'From the first' })
    expect((await waiting).data).toMatchObject([{ type: 'task.created', taskId: id }])
    await second.patch(`/api/tasks/${id}`, { status: 'done' })
    expect(await first.get(`/api/tasks/${id}`)).toMatchObject({ status: 'done', version: 2 })
    await stopOne()
    expect(await second.get(`/api/tasks/${id}`)).toMatchObject({ status: 'done' })
  })

  test('gets another encryption key one instance at a time, and every instance decrypts', async () => {
    const client = await start()
    const [current, next] = [dump.encryptionKey, 'cd'.repeat(32)]
    const { data: projects } = await client.get('/api/projects')
    const { id } = projects.find(({ codehost }: { codehost: unknown }) => codehost)
    const expectSyncs = async () => {
      for (const { client } of instances) {
        expect(await sync(client, id)).toMatchObject({ status: 'completed', error: null })
      }
    }

    await restartEach({ ENCRYPTION_KEY: current, ENCRYPTION_KEY_PREVIOUS: next })
    await restartEach({ ENCRYPTION_KEY: next, ENCRYPTION_KEY_PREVIOUS: current }, async (restarted) => {
      // With the new key, which the other one has as its previous key.
      await connect(restarted, id)
      await expectSyncs()
    })
    const { code, output } = await run(['run', 'keys', '--', 'rotate-encryption'], env)
    await restartEach({ ENCRYPTION_KEY: next, ENCRYPTION_KEY_PREVIOUS: '' })

    expect(code).toBe(0)
    expect(output).toMatch(/Encrypted \d stored tokens and secrets with the new key/)
    await expectSyncs()
    await stopOne()
    await stopOne()
  })

  test('is refused by an earlier version, which says what to do', async () => {
    await withAdmin(database.connectionString, (admin) =>
      admin.query(
        `insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 9999999999999)`,
      ),
    )

    const { code, output } = await spawnNpm(['start'], { env }).ended

    expect(code).toBe(1)
    expect(output).toContain(
      'it was migrated by a later version of Inlet. Start that version, or restore a backup from before the upgrade',
    )
  })
})

test('the guide for operators has the same commands in the same order', async () => {
  const guide = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const [section = ''] = /^## Step by step$.*?(?=^## )/ms.exec(guide) ?? []
  const places = [...new Set(typed)].map((command) => section.indexOf(command))

  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((one, other) => one - other))
})

const environmentOf = ({ url }: CodeHostFake) => ({
  CODEHOST_API_URLS: url,
  WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
})

function startInlet(env: Record<string, string>): NpmProcess {
  typed.push('npm start')
  return spawnNpm(['start'], { env, isGroup: true })
}

/** Runs a command that ends. */
function run(words: string[], env: Record<string, string>): NpmProcess['ended'] {
  typed.push(['npm', ...words].join(' ').replace(/ \/.*/, ' /backups/inlet.tar.gz'))
  return spawnNpm(words, { env }).ended
}

async function connect(client: Api, projectId: string): Promise<void> {
  const connection = { repository: 'acme/web', token: HOST_TOKEN, schedule: 'off', writeBack: 'state' }
  await client.put(`/api/projects/${projectId}/codehost`, connection)
}

/** With the stored token. */
const sync = (client: Api, projectId: string) =>
  client.post(`/api/codehost/${projectId}/sync`, undefined, { prefer: 'wait=60' })
