import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keyId } from '../../src/domain/token-seal.ts'
import { unreadableSecrets } from '../../src/services/encryption.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { deliver as deliverFromHost } from '../support/code-host-deliveries.ts'
import { storeEverything } from '../support/encrypted.ts'
import { freshDatabase } from '../support/postgres.ts'
import { deliver, type SentSource, sourceOf } from '../support/sources.ts'
import { SENDING_ENV } from '../support/webhooks.ts'

const [first, second] = ['ab', 'cd'].map((byte) => Buffer.from(byte.repeat(32), 'hex')) as [Buffer, Buffer]

let before: TestApp
/** The same database with another key. */
let after: TestApp
/** Without a key. */
let without: TestApp
/** What the others log. */
const logged: Record<string, unknown>[] = []
let ends: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  const { connectionString, drop } = await freshDatabase()
  const logger = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line)) })
  const start = (key?: Buffer) => {
    const env = { ...SENDING_ENV, ENCRYPTION_KEY: key?.toString('hex') ?? '' }
    return startApp({ connectionString, env, ...(key !== first && { logger }) })
  }
  before = await start(first)
  after = await start(second)
  without = await start()
  ends = [before.close, after.close, without.close, drop]
})
afterAll(async () => {
  for (const end of ends) await end()
})

beforeEach(() => {
  logged.length = 0
})

/** The failed deliveries that were logged. */
const failures = () =>
  logged
    .splice(0)
    .filter(({ msg }) => String(msg).startsWith('delivery'))
    .map(({ msg, code, projectId, sourceId, connectionId }) => [msg, code, projectId, sourceId, connectionId])

describe('a delivery whose secret cannot be decrypted', () => {
  const schemes = [
    { scheme: 'standard_webhooks' },
    { scheme: 'hmac_sha256_hex', header: 'X-Signature' },
  ] as const

  test.each(schemes)('to a source is 503 with $scheme, so that it is sent again', async (verify) => {
    const { source } = await sourceOf(before, { verify })
    const delivery = { source, payload: { title: 'Kept' }, id: `kept-${verify.scheme}` }

    for (const instance of [after, without]) {
      const { status, headers, body } = await deliver(instance, delivery)
      expect([status, body.code]).toEqual([503, 'unavailable'])
      expect(headers.get('retry-after')).toBe('60')
      expect(body.detail).toContain('the encryption key of Inlet has changed')
      expect(failures()).toEqual([
        ['delivery of a source failed', 'secret_unreadable', source.projectId, source.id, undefined],
      ])
    }
    expect(await deliver(before, delivery)).toMatchObject({ status: 201 })
  })

  test('to a source with a new secret: what the new one signs is accepted, what it did not sign is 503', async () => {
    const { source } = await sourceOf(before)
    const { secret } = (await after.post(`/api/sources/${source.id}/rotate`, {})).body
    const send = (key: string) => deliver(after, { source, payload: { title: 'T' }, secret: key })

    expect((await send(secret)).status).toBe(201)
    expect((await send(source.secret)).status).toBe(503)
  })

  test('to a source that sends its secret is accepted: it is hashed', async () => {
    const { source } = await sourceOf(before, { verify: { scheme: 'bearer' } })
    const send = (secret: string) => deliver(after, { source, payload: { title: 'T' }, secret })

    expect((await send(source.secret)).status).toBe(201)
    expect((await send('another')).status).toBe(401)
  })

  test('is 401 for an unknown source, one that is off, and one without a signature', async () => {
    const { source } = await sourceOf(before)
    const off = await sourceOf(before)
    await before.patch(`/api/sources/${off.source.id}`, { isActive: false })
    const unknown = { ...source, url: source.url.replace(source.id, '0190a3b0-0000-7000-8000-000000000000') }
    const statusOf = async (sent: SentSource['source'], headers = {}) =>
      (await deliver(after, { source: sent, payload: {}, headers })).status

    expect(await statusOf(unknown)).toBe(401)
    expect(await statusOf(off.source)).toBe(401)
    expect(await statusOf(source, { 'webhook-signature': undefined })).toBe(401)
  })

  test('of the code host is 503; to a connection that does not exist, it is 401', async () => {
    const { texts, projectIds } = await storeEverything(before, [first])
    const { body } = await before.get(`/api/projects/${projectIds[0]}/codehost`)
    const [secret = ''] = texts.connection
    const send = (app: TestApp, id: string) =>
      deliverFromHost({ url: `${app.url}/in/codehost/${id}`, secret }, { event: 'ping', payload: {} })

    expect(await send(after, body.id)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(failures()).toEqual([
      ['delivery of the code host failed', 'secret_unreadable', projectIds[0], undefined, body.id],
    ])
    expect((await send(without, body.id)).status).toBe(503)
    expect((await send(after, '0190a3b0-0000-7000-8000-000000000000')).status).toBe(401)
    expect((await send(before, body.id)).status).toBeLessThan(300)
  })
})

describe('what the keys of an instance do not decrypt', () => {
  test('is counted by kind, and named with the key', async () => {
    const database = await freshDatabase()
    const app = await startApp({
      connectionString: database.connectionString,
      env: { ...SENDING_ENV, ENCRYPTION_KEY: first.toString('hex') },
    })
    const { projectIds, sourceIds, webhookId } = await storeEverything(app, [first])
    const read = (keys?: [Buffer, ...Buffer[]]) =>
      unreadableSecrets({ repos: app.repos, clock: app.clock, keys })

    expect(await read([first])).toBeUndefined()
    expect(await read([second, first])).toBeUndefined()
    const found = {
      ...{ connections: 2, sources: 1, webhooks: 1 },
      identityProviders: 0,
      names: [
        `the token of the project "Web" (${projectIds[0]})`,
        `the webhook secret of the project "Web" (${projectIds[0]})`,
        ...Array(2).fill(`the previous webhook secret of the project "Web" (${projectIds[0]})`),
        `the private key of the GitHub App of the project "With an App" (${projectIds[1]})`,
        `the secret of the source "Forms" (${sourceIds[0]})`,
        `the previous secret of the source "Forms" (${sourceIds[0]})`,
        `the secret of the outgoing webhook "A receiver" (${webhookId})`,
        `the previous secret of the outgoing webhook "A receiver" (${webhookId})`,
      ],
      keyIds: [keyId(first)],
    }
    expect(await read([second])).toEqual(found)
    expect(await read()).toEqual(found)
    await app.close()
    await database.drop()
  })

  test('names at most ten of a kind', async () => {
    const database = await freshDatabase()
    const app = await startApp({
      connectionString: database.connectionString,
      env: { ENCRYPTION_KEY: first.toString('hex') },
    })
    const { id: projectId } = await app.given.project()
    for (let nth = 0; nth < 12; nth++) await sourceOf(app, { projectId })

    const found = await unreadableSecrets({ repos: app.repos, clock: app.clock, keys: [second] })
    expect(found).toMatchObject({ connections: 0, sources: 12, webhooks: 0 })
    expect(found?.names).toHaveLength(10)
    await app.close()
    await database.drop()
  })

  test('is nothing for a source that an import left without a secret', async () => {
    const database = await freshDatabase()
    const app = await startApp({ connectionString: database.connectionString, env: {} })
    const { source } = await sourceOf(app, { verify: { scheme: 'bearer' } })
    // As an import stores it: the hash of a random text.
    await app.query("update sources set scheme = 'standard_webhooks' where id = $1", [source.id])

    const keys = [second] as const
    expect(await unreadableSecrets({ repos: app.repos, clock: app.clock, keys })).toBeUndefined()
    await app.close()
    await database.drop()
  })
})
