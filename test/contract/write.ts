/**
 * Rewrites the contract files: what the doors look like from outside, as files, so that a reviewer sees every
 * change of them. `npm run contract` writes; with `--check` it only says whether they are fresh.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { githubClient } from '../../src/clients/github.ts'
import { identityProviderClient } from '../../src/clients/identity-provider.ts'
import { webhookReceiver } from '../../src/clients/webhook-receiver.ts'
import { loadConfig } from '../../src/config.ts'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { repositories, transfersOn } from '../../src/repositories/index.ts'
import { services } from '../../src/services/index.ts'
import { setUp } from '../../src/services/setup.ts'
import { describeSchema } from './schema.ts'
import { servedTools } from './tools.ts'

const isCheck = process.argv.includes('--check')
const stale: string[] = []
const logger = pino({ level: 'silent' })
const dataDir = await mkdtemp(join(tmpdir(), 'inlet-contract-'))
const server = await startEmbedded({ dataDir, log: logger, settings: { fsync: 'off' } })
try {
  await migrate(server.connectionString)
  write('schema.sql', await describeSchema(new pg.Client({ connectionString: server.connectionString })))

  const db = openDatabase({ connectionString: server.connectionString, size: 2, onError: () => {} })
  const repos = repositories(db)
  const clock = systemClock()
  const codehost = { host: githubClient(), apiUrls: [], token: undefined, encryptionKeys: undefined }
  const receiver = webhookReceiver({ allowHosts: [] })
  const service = services({
    ...{ repos, transfers: transfersOn(db), clock, randomBytes, codehost },
    webhookReceiver: receiver,
    signIn: loadConfig({}).signIn,
    identity: { client: identityProviderClient(), environment: undefined },
  })
  const app = await buildApp({ config: loadConfig({}), logger, services: service, ping: repos.ping })
  await app.ready()
  write('openapi.json', `${JSON.stringify(app.swagger(), null, 2)}\n`)
  const bootstrapKey = randomBytes(32).toString('hex')
  await setUp({ repos, clock, randomBytes, bootstrapKey, hasWebhookSecret: true })
  write('mcp-tools.json', `${JSON.stringify(await servedTools(app, bootstrapKey), null, 2)}\n`)
  await app.close()
  await db.$client.end()
} finally {
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}
if (stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run npm run contract and review the difference.`)
  process.exitCode = 1
}

function write(name: string, text: string) {
  const file = fileURLToPath(new URL(name, import.meta.url))
  if (isCheck && readText(file) !== text) stale.push(name)
  if (!isCheck) writeFileSync(file, text)
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
