/** A worker in a process of its own, to be killed: `node sync-process.ts <database> <code host> <token>`. */
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { githubClient } from '../../src/clients/github.ts'
import { identityProviderClient } from '../../src/clients/identity-provider.ts'
import { webhookReceiver } from '../../src/clients/webhook-receiver.ts'
import { loadConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { startOutboxWorker } from '../../src/jobs/outbox.ts'
import { startPushWorker } from '../../src/jobs/push.ts'
import { startSyncWorker } from '../../src/jobs/sync.ts'
import { paced } from '../../src/jobs/timers.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { repositories, transfersOn } from '../../src/repositories/index.ts'
import { services } from '../../src/services/index.ts'

const [connectionString = '', url = '', token] = process.argv.slice(2)
const db = openDatabase({ connectionString, size: 4, onError: () => {} })
const codehost = { host: githubClient(), apiUrls: [url], token, encryptionKeys: undefined }
const service = services({
  repos: repositories(db),
  transfers: transfersOn(db),
  clock: systemClock(),
  randomBytes,
  codehost,
  signIn: loadConfig({}).signIn,
  identity: { client: identityProviderClient(), environment: undefined },
  webhookReceiver: webhookReceiver({ allowHosts: [] }),
})
const logger = pino({ level: 'silent' })
const workers = [
  startSyncWorker({ sync: service.sync, logger, pollMs: 200 }),
  startPushWorker({ push: service.push, logger, pollMs: 200 }),
  startOutboxWorker({ outbox: service.outbox, logger, pollMs: 200 }),
  paced(() => service.notificationFeed.work(), { shares: { busy: 0.5, quiet: 0.5 }, pauseMs: 100, logger }),
]
process.once('SIGTERM', async () => {
  for (const worker of workers) await worker.stop()
  await db.$client.end()
})
