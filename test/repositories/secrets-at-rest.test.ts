import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/pool.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { repositories } from '../../src/repositories/index.ts'
import { setUp } from '../../src/services/setup.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

const HOST_TOKEN = `ghp_${'t0ken'.repeat(8)}`

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ tokens: { [HOST_TOKEN]: {} } })
})
afterAll(() => service.close())

test('the database contains no secret in plain text', async () => {
  const key = (await service.post('/api/keys', { name: 'x' })).body
  const rotated = (await service.post(`/api/keys/${key.id}/rotate`)).body
  const webhook = (await service.post('/api/webhook-secrets')).body
  const renewed = (await service.post(`/api/webhook-secrets/${webhook.id}/rotate`)).body
  const session = await service.post('/api/sessions', { key: rotated.key }, { key: null })
  const cookie = /inlet_session=([^;]+)/.exec(session.headers.get('set-cookie') ?? '')?.[1] ?? ''
  await service.get('/api/me', { key: rotated.key })
  const { project, sync } = await service.connected({ token: HOST_TOKEN }, 1)
  await sync()
  const hook = (await service.post(`/api/projects/${project.id}/codehost/webhook-secret`)).body
  const newHook = (await service.post(`/api/projects/${project.id}/codehost/webhook-secret`)).body
  await service.post('/api/tasks', { title: 'x' }, { headers: { 'idempotency-key': 'x' } })

  const dump = await dumpAll()
  expect(dump).toContain(key.id)
  expect(dump).toContain(session.body.id)
  expect(dump).toContain('acme/app-1')
  expectNoneOf(
    [
      ...[service.adminKey, key.key, rotated.key, cookie, HOST_TOKEN],
      ...[webhook, renewed, hook, newHook].map(({ secret }) => secret),
    ],
    dump,
  )
})

test('nor those that the first start creates and prints', async () => {
  const database = await freshDatabase()
  const db = openDatabase({ connectionString: database.connectionString, size: 1, onError: () => {} })
  const made = await setUp({
    repos: repositories(db),
    clock: systemClock(),
    randomBytes,
    bootstrapKey: undefined,
    hasWebhookSecret: false,
  })

  const dump = await dumpAll(async (text) => (await db.$client.query(text)).rows)
  expectNoneOf([made.adminKey ?? '', made.webhookSecret ?? ''], dump)
  await db.$client.end()
  await database.drop()
})

function expectNoneOf(secrets: string[], dump: string) {
  expect(dump).toContain('admin')
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(30)
    expect(dump).not.toContain(secret)
    // Nor most of the part that is secret.
    expect(dump).not.toContain(secret.slice(-32))
  }
}

async function dumpAll(
  query: (text: string) => Promise<Record<string, string>[]> = service.query,
): Promise<string> {
  const tables = await query(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  )
  const dumps = await Promise.all(
    tables.map(({ name }) => query(`select row_to_json(t)::text as line from ${name} t`)),
  )
  return dumps
    .flat()
    .map(({ line }) => line)
    .join('\n')
}
