import { randomBytes } from 'node:crypto'
import { type EncryptionKeys, keyId } from '../../src/domain/token-seal.ts'
import { everywhere } from '../../src/repositories/index.ts'
import { tokenVault } from '../../src/services/codehost/token.ts'
import { sourceSecrets } from '../../src/services/sources/secrets.ts'
import { webhookSigner } from '../../src/services/webhooks/signer.ts'
import type { TestApp } from './app.ts'
import { sourceOf } from './sources.ts'
import { webhookTo } from './webhooks.ts'

/**
 * Stores one of everything that is encrypted: credentials of both kinds, and current and previous secrets. Returns the
 * ids of their owners and the texts.
 */
export async function storeEverything(app: TestApp, keys: EncryptionKeys) {
  const vault = vaultWith(keys)
  const [project, other] = [
    await app.given.project({ name: 'Web' }),
    await app.given.project({ name: 'With an App' }),
  ]
  const ids = [app.clock.newId(new Date()), app.clock.newId(new Date())] as const
  const hook = { ...vault.newWebhookSecret(ids[0]) }
  const earlierHook = { ...vault.newWebhookSecret(ids[0]) }
  const previousHook = { ...vault.newWebhookSecret(ids[0]) }
  await app.given.connection(project.id, {
    ...{ id: ids[0], ...vault.seal({ token: 'a token' }, ids[0]), apiUrl: API_URL },
    webhookSecret: hook.sealed,
    previousWebhookSecrets: [earlierHook, previousHook].map(({ sealed = '' }, hours) => ({
      secret: sealed,
      until: new Date(Date.now() + (2 - hours) * 3_600_000).toISOString(),
    })),
  })
  const credentials = { token: null, app: { appId: 1, installationId: 2, privateKey: 'a private key' } }
  await app.given.connection(other.id, {
    ...{ id: ids[1], ...vault.seal(credentials, ids[1]), apiUrl: API_URL },
  })
  const { source } = await sourceOf(app, { projectId: project.id })
  const newSource = (await app.post(`/api/sources/${source.id}/rotate`, {})).body
  const sent = await sourceOf(app, { projectId: project.id, verify: { scheme: 'bearer' } })
  const webhook = await webhookTo(app, { url: RECEIVER })
  const newWebhook = (await app.post(`/api/webhooks/${webhook.id}/rotate`, {})).body
  return {
    projectIds: [project.id, other.id] as const,
    sourceIds: [source.id, sent.source.id] as const,
    webhookId: webhook.id,
    texts: {
      credentials: [{ token: 'a token' }, credentials],
      connection: [hook.text, earlierHook.text, previousHook.text],
      source: [newSource.secret, source.secret],
      webhook: [newWebhook.secret, webhook.secret],
    },
  }
}

/** The texts of `storeEverything`, as an instance with these keys reads them. */
export async function readEverything(
  app: TestApp,
  { keys, stored }: { keys: EncryptionKeys; stored: Stored },
) {
  const { codehost, sources, webhooks } = app.repos.within(everywhere)
  const now = new Date()
  const [connection, other] = await Promise.all(stored.projectIds.map((id) => codehost.find(id)))
  const source = await sources.find(stored.sourceIds[0])
  const webhook = await webhooks.find(stored.webhookId)
  if (!connection || !other || !source || !webhook) throw new Error('A row is gone.')
  const vault = vaultWith(keys)
  const deps = { encryptionKeys: keys, randomBytes }
  return {
    credentials: [vault.open(connection), vault.open(other)],
    connection: vault.webhookSecretsOf(connection, now).texts,
    source: sourceSecrets(deps).validOf(source, now).texts,
    webhook: webhookSigner(deps).secretsOf(webhook, now),
  }
}

/** Every column of the database with a text that is encrypted with this key. */
export async function columnsWith({ query }: Pick<TestApp, 'query'>, key: Buffer): Promise<string[]> {
  const columns = await query(
    `select table_name as "table", column_name as "column" from information_schema.columns
     where table_schema = 'public' and data_type in ('text', 'jsonb') order by 1, 2`,
  )
  const found: string[] = []
  for (const { table, column } of columns) {
    const [{ has } = { has: false }] = await query(
      `select exists (select from ${table} where "${column}"::text like '%.${keyId(key)}%') as has`,
    )
    if (has) found.push(`${table}.${column}`)
  }
  return found
}

type Stored = Awaited<ReturnType<typeof storeEverything>>

/** Allowed by `SENDING_ENV`. */
const RECEIVER = 'http://127.0.0.1:9/'
const API_URL = 'https://api.codehost.example'

const vaultWith = (encryptionKeys: EncryptionKeys) =>
  tokenVault({ apiUrls: [API_URL], token: undefined, encryptionKeys, randomBytes })
