import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../src/lib/clock.ts'
import { reencryptAll } from '../src/services/encryption.ts'
import { webhookSigner } from '../src/services/webhooks/signer.ts'
import { startApp, type TestApp } from './support/app.ts'
import { spawnCommand } from './support/commands.ts'
import { columnsWith, readEverything, storeEverything } from './support/encrypted.ts'
import { locksOf } from './support/locks.ts'
import { freshDatabase } from './support/postgres.ts'
import { deliver, sourceOf } from './support/sources.ts'
import { webhookTo } from './support/webhooks.ts'

const [first, second, third] = ['ab', 'cd', 'ef'].map((byte) => Buffer.from(byte.repeat(32), 'hex')) as [
  Buffer,
  Buffer,
  Buffer,
]

let connectionString: string
let ends: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  const database = await freshDatabase()
  connectionString = database.connectionString
  ends = [database.drop]
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
})

describe('npm run keys -- rotate-encryption', () => {
  test('encrypts everything with the new key, also while instances run that have both', async () => {
    const { app: before, close } = await start(first)
    const stored = await storeEverything(before, [first])
    const encrypted = await columnsWith(before, first)
    expect(encrypted).toEqual([
      'codehost_connections.app',
      'codehost_connections.previous_webhook_secrets',
      'codehost_connections.token',
      'codehost_connections.webhook_secret',
      'sources.previous_secrets',
      'sources.secret',
      'webhooks.previous_secrets',
      'webhooks.secret',
    ])
    await close()
    const { app } = await start(second, first)
    expect(await readEverything(app, { keys: [second, first], stored })).toEqual(stored.texts)

    const { code, output } = await rotate(second, first)

    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/^Encrypted 9 .*\(0 had it already\)/),
    })
    expect(output).toContain('Remove ENCRYPTION_KEY_PREVIOUS from every instance')
    expect(output).toContain('Keep the previous key as long as you keep backups from before')
    expect(await columnsWith(app, first)).toEqual([])
    expect(await columnsWith(app, second)).toEqual(encrypted)
    expect(await readEverything(app, { keys: [second], stored })).toEqual(stored.texts)

    const again = await rotate(second, first)
    expect(again).toEqual({ code: 0, output: expect.stringMatching(/^Encrypted 0 .*\(9 had it already\)/) })
  })

  test('refuses while an instance runs that encrypts with another key, or has none', async () => {
    const { app, close } = await start(first, second)
    const stored = await storeEverything(app, [first])
    const refused = { code: 1, output: expect.stringContaining('running encrypts with another key') }
    expect(await rotate(second, first)).toEqual(refused)
    expect(await readEverything(app, { keys: [first], stored })).toEqual(stored.texts)
    await close()

    await start()
    expect(await rotate(second, first)).toEqual(refused)
  })

  test('names what neither key decrypts, and leaves it as it is', async () => {
    const { app, close } = await start(first)
    const stored = await storeEverything(app, [first])
    await close()
    const { app: lost, close: closeLost } = await start(third)
    const { source } = await sourceOf(lost, { name: 'Lost "one"' })
    await webhookTo(lost, { url: 'http://127.0.0.1:9/', name: 'Gone' })
    const { app: present } = await start(second, first)
    await closeLost()
    await present.query("update codehost_connections set token = 'v1.damaged' where project_id = $1", [
      stored.projectIds[0],
    ])
    const before = await rowsOf(present)

    const { code, output } = await rotate(second, first)

    expect(code).toBe(1)
    expect(output).toContain("can't be decrypted with ENCRYPTION_KEY or ENCRYPTION_KEY_PREVIOUS")
    expect(output).toContain(`the token of the project "Web" (${stored.projectIds[0]})\n`)
    expect(output).toContain(`the secret of the source "Lost \\"one\\"" (${source.id})\n`)
    expect(output).toMatch(/ {2}the secret of the outgoing webhook "Gone" \(/)
    expect(output.match(/^ {2}the /gm)).toHaveLength(3)
    const after = await rowsOf(present)
    const lostRows = (rows: string[]) => rows.filter((row) => /Lost|Gone/.test(row))
    expect(lostRows(after)).toEqual(lostRows(before))
    expect(await columnsWith(present, first)).toEqual([])
  })

  test('says what is missing in the environment', async () => {
    const run = (env: Record<string, string>) =>
      spawnCommand(['keys', 'rotate-encryption'], { env: { DATABASE_URL: connectionString, ...env } }).ended
    const hex = first.toString('hex')
    const [one, same] = await Promise.all([
      run({ ENCRYPTION_KEY: hex }),
      run({ ENCRYPTION_KEY: hex, ENCRYPTION_KEY_PREVIOUS: first.toString('base64') }),
    ])
    expect(one.code).toBe(1)
    expect(one.output).toMatch(/^ENCRYPTION_KEY_PREVIOUS is not set\. Set/)
    expect(same.output).toMatch(/^ENCRYPTION_KEY_PREVIOUS is the same key as ENCRYPTION_KEY\. Set/)
  })
})

test('instances with the keys in either order read what the other one stored', async () => {
  const { app: one } = await start(first, second)
  const { app: other } = await start(second, first)
  for (const [writer, reader] of [
    [one, other],
    [other, one],
  ] as const) {
    const { source } = await sourceOf(writer)
    expect(await deliver(reader, { source, payload: { title: 'T' } })).toMatchObject({ status: 201 })
  }
})

test('a secret that is replaced at the same time is not lost', async () => {
  const { app } = await start(first)
  const webhook = await webhookTo(app, { url: 'http://127.0.0.1:9/' })
  const signer = webhookSigner({ encryptionKeys: [first], randomBytes })
  const { text, stored } = signer.newSecret(webhook.id)
  const writer = await app.connect()
  await writer.query('begin')
  await writer.query('update webhooks set secret = $2 where id = $1', [webhook.id, stored])

  const work = reencryptAll({
    ...{ repos: app.repos, keys: [second, first], randomBytes, clock: systemClock() },
    signal: new AbortController().signal,
  })
  await locksOf(app).waiting(1, work)
  await writer.query('commit')
  writer.release()

  expect(await work).toEqual({ changed: 1, kept: 0, unreadable: [] })
  const [row] = await app.query('select * from webhooks where id = $1', [webhook.id])
  const reader = webhookSigner({ encryptionKeys: [second], randomBytes })
  expect(reader.secretsOf({ ...row, previousSecrets: [] }, new Date())).toEqual([text])
})

test('a previous secret that has expired may be lost', async () => {
  const { app } = await start(first)
  const { id } = await webhookTo(app, { url: 'http://127.0.0.1:9/' })
  const { stored } = webhookSigner({ encryptionKeys: [third], randomBytes }).newSecret(id)
  const set = (until: string) =>
    app.query('update webhooks set previous_secrets = $2 where id = $1', [
      ...[id, JSON.stringify([{ secret: stored, until }])],
    ])
  const work = () =>
    reencryptAll({
      ...{ repos: app.repos, keys: [second, first], randomBytes, clock: systemClock() },
      signal: new AbortController().signal,
    })
  await set('2020-01-01T00:00:00Z')
  expect((await work()).unreadable).toEqual([])
  await set('2999-01-01T00:00:00Z')
  expect((await work()).unreadable).toEqual([
    `the previous secret of the outgoing webhook "A receiver" (${id})`,
  ])
})

/** Each source and webhook, as text. */
async function rowsOf({ query }: TestApp): Promise<string[]> {
  const rows = await query(
    'select s::text as row from sources s union all select w::text from webhooks w order by 1',
  )
  return rows.map(({ row }) => row)
}

async function start(key?: Buffer, previous?: Buffer): Promise<{ app: TestApp; close(): Promise<void> }> {
  const app = await startApp({
    connectionString,
    env: { ...environment(key, previous), WEBHOOK_ALLOW_HOSTS: '127.0.0.1' },
  })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= app.close()
    return closing
  }
  ends.push(close)
  return { app, close }
}

const rotate = (key: Buffer, previous: Buffer) =>
  spawnCommand(['keys', 'rotate-encryption'], {
    env: { DATABASE_URL: connectionString, ...environment(key, previous) },
  }).ended

const environment = (key?: Buffer, previous?: Buffer) => ({
  ...(key && { ENCRYPTION_KEY: key.toString('hex') }),
  ...(previous && { ENCRYPTION_KEY_PREVIOUS: previous.toString('hex') }),
})
