import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Logger, pino, stdSerializers } from 'pino'
import { type Config, loadConfig } from './config.ts'
import { withoutValues } from './db/database-error.ts'
import { encryptionKeysOf } from './db/embedded/encryption-key.ts'
import { type EmbeddedServer, startEmbedded } from './db/embedded/index.ts'
import { retryUntilDeadline } from './db/retry.ts'
import type { Jobs } from './jobs/index.ts'
import { systemClock } from './lib/clock.ts'
import { collectCodeAndGarbage, collectGarbage } from './lib/collect-garbage.ts'
import { lazily } from './lib/lazy.ts'
import { logDestination } from './lib/log-destination.ts'
import { workLogged } from './lib/traced.ts'
import { CUT_CLIENTS_MS, type Lifetime, live } from './lifetime.ts'
import type { SetUp } from './services/setup.ts'
import {
  CLEAR_TEXT,
  CLOCK_TEXT,
  databaseNames,
  feedbackExample,
  hostInClear,
  isClockOff,
  keyCommandOf,
  keyHint,
  PASSKEYS_TEXT,
  PROVIDERS_TEXT,
  shownOnce,
  taskExamples,
  unreadableText,
  urlOf,
} from './start-text.ts'

/** The database server; only the embedded one can stop, and knows whether it was restored. */
type Server = Pick<EmbeddedServer, 'connectionString'> & Partial<EmbeddedServer>

const KEY_COMMAND = keyCommandOf(process)

/** How long a start retries while the database is unavailable. */
const DATABASE_DEADLINE_MS = 60_000

const REDACTED = ['req.headers.authorization', 'req.headers["x-api-key"]', 'req.headers.cookie']

/** Errors of statements repeat their values in the message, and some are e-mail addresses. */
const errorToLog = (error: unknown) => stdSerializers.err(withoutValues(error) as Error)

try {
  const config = loadConfig(process.env)
  const logger = loggerOf(config)
  // npm forwards only SIGTERM and SIGINT; if it ends otherwise, this process ends as well.
  const endsWithParent = process.env.npm_lifecycle_event === 'start'
  await live({ logger, endsWithParent, start: (lifetime) => start({ config, logger, lifetime }) })
} catch (error) {
  process.stderr.write(`Inlet cannot start. ${(error as Error).message}\n`)
  process.exit(1)
}

function loggerOf({ logLevel, traces }: Config) {
  return pino(
    {
      level: logLevel,
      redact: REDACTED,
      serializers: { err: errorToLog },
      ...(traces && { mixin: workLogged }),
    },
    logDestination(process.stdout.fd),
  )
}

/** Most of the code: loading it takes as long as starting the embedded database. */
async function loadApplication() {
  return {
    ...(await import('./db/pool.ts')),
    ...(await import('./db/database-id.ts')),
    ...(await import('./db/clock-skew.ts')),
    ...(await import('./db/migrate.ts')),
    ...(await import('./db/listen.ts')),
    ...(await import('./clients/github.ts')),
    ...(await import('./clients/identity-provider.ts')),
    ...(await import('./clients/webhook-receiver.ts')),
    ...(await import('./repositories/index.ts')),
    ...(await import('./services/encryption.ts')),
    ...(await import('./services/index.ts')),
    ...(await import('./services/setup.ts')),
    ...(await import('./services/restored.ts')),
    ...(await import('./app.ts')),
  }
}

async function start({ config, logger, lifetime }: { config: Config; logger: Logger; lifetime: Lifetime }) {
  const { onEnd, fail, signal, cutDatabase: cut } = lifetime
  const { traces } = config
  if (traces) onEnd(await (await import('./tracing/index.ts')).startTracing({ ...traces, logger }))
  await refuseTakenAddress(config)
  if (config.webhookPort !== undefined) {
    await refuseTakenAddress({ host: config.webhookHost, port: config.webhookPort }, 'WEBHOOK_PORT')
  }
  const application = lazily(loadApplication)
  const server: Server = config.databaseUrl ? { connectionString: config.databaseUrl } : await embedded()
  const { connectionString } = server
  const directConnectionString = config.databaseDirectUrl
  const sessions = directConnectionString ?? connectionString
  const loaded = await application()
  const { openDatabase, poolState, databaseIdOf, clockSkewOf, migrate, listen } = loaded
  const { repositories, taskCache, transfersOn } = loaded
  const { services, setUp, unreadableSecrets, afterRestore, listAccess, githubClient, webhookReceiver } =
    loaded
  const { identityProviderClient } = loaded
  const { buildApp, buildReceiver, limitsOf } = loaded
  // Not the error itself: the pool attaches the whole client to it.
  const onErrorOf =
    (database: string) =>
    ({ message }: Error) =>
      logger.warn({ reason: message, database }, 'database connection lost')
  const names = databaseNames(config)
  const waitingFor = (database: string) => ({
    database,
    deadlineMs: DATABASE_DEADLINE_MS,
    signal,
    onWait: (reason: string) => logger.warn({ reason }, `waiting for ${database}`),
  })
  const db = openDatabase({
    connectionString,
    directConnectionString,
    size: config.databasePool,
    cut,
    isTraced: traces !== undefined,
    onError: onErrorOf(names.requests),
  })
  onEnd(() => db.$client.end())
  const repos = repositories(db, { cache: taskCache(db.$client) })
  const clock = systemClock()

  // Migrations of another database would be found too late.
  const databaseId =
    directConnectionString &&
    (await retryUntilDeadline(() => databaseIdOf(db.$client), waitingFor(names.requests)))
  let first: Partial<SetUp> = {}
  const warnRestored = async () => {
    const access = await listAccess({ repos, clock })
    logger.warn(
      access,
      'restored from a backup: write-back and outgoing webhooks are off, and all sessions ended',
    )
  }
  await retryUntilDeadline(
    () =>
      migrate(sessions, {
        databaseId,
        cut,
        signal,
        async prepare() {
          first = await setUp({
            repos,
            clock,
            randomBytes,
            bootstrapKey: config.bootstrapApiKey,
            hasWebhookSecret: config.webhookSecret !== undefined,
          })
          // At once: they cannot be shown again, and a later step may fail.
          process.stdout.write(shownOnce(first, KEY_COMMAND))
          if (first.isRestored) await warnRestored()
          await server.whenRestored?.(async () => {
            await afterRestore({ repos, clock })
            await warnRestored()
          })
        },
      }),
    waitingFor(names.sessions),
  )
  signal.throwIfAborted()

  const codehost = {
    host: githubClient({
      onLargeBody: collectGarbage,
      onError: (err) => logger.warn({ err }, 'incomplete response from the code host'),
    }),
    apiUrls: config.codehostApiUrls,
    token: config.codehostToken,
    encryptionKeys: await encryptionKeysOf(config),
  }
  const unreadable = await retryUntilDeadline(
    () => unreadableSecrets({ repos, keys: codehost.encryptionKeys, clock }),
    waitingFor(names.requests),
  )
  if (unreadable) logger.error(unreadable, unreadableText(config))
  const skewMs = await retryUntilDeadline(() => clockSkewOf(db.$client), waitingFor(names.requests))
  if (isClockOff(skewMs)) logger.warn({ seconds: Math.round(skewMs / 1_000) }, CLOCK_TEXT)
  const isDirectUp = directConnectionString ? () => others.isListening() : undefined
  const service = services({
    repos,
    transfers: transfersOn(db),
    clock,
    randomBytes,
    codehost,
    signIn: config.signIn,
    publicUrl: config.publicUrl,
    identity: {
      client: identityProviderClient(),
      environment: config.identityProvider,
    },
    logFailure: (about, message) => logger.warn(about, message),
    webhookReceiver: webhookReceiver({ allowHosts: config.webhookAllowHosts }),
    pool: poolState(db),
    isEmbedded: config.databaseUrl === undefined,
    isDirectUp,
  })
  const { passkeys, providers } = await retryUntilDeadline(
    service.countBrokenSignIns,
    waitingFor(names.requests),
  )
  if (passkeys > 0) logger.warn({ passkeys }, PASSKEYS_TEXT)
  if (providers > 0) logger.warn({ providers }, PROVIDERS_TEXT)
  const limits = limitsOf(config)
  const { isDiskFull } = server
  const app = await buildApp({
    config,
    logger,
    services: service,
    limits,
    ping: repos.ping,
    isDirectUp,
    isDiskFull,
  })
  const receiver =
    config.webhookPort === undefined
      ? undefined
      : await buildReceiver({ config, logger, services: service, isDiskFull, limits })
  const apps = receiver ? [app, receiver] : [app]
  const { keyId, notices: channels } = service
  const others = listen({
    connectionString: sessions,
    channels,
    keyId,
    cut,
    onError: onErrorOf(names.sessions),
    onUnreadable: (about) => logger.warn(about, 'unreadable database notification'),
  })
  onEnd(others.close)
  // Shared by both apps, so it closes after them.
  onEnd(service.payloadReader.close)
  let jobs: Jobs | undefined
  onEnd(async () => {
    const cut = setTimeout(() => {
      for (const { server } of apps) server.closeAllConnections()
    }, CUT_CLIENTS_MS)
    await Promise.all([jobs?.stop(), ...apps.map((app) => app.drain().then(() => app.close()))])
    clearTimeout(cut)
  })
  // Changes by other instances must be known before the first request.
  await others.ready
  await app.listen({ port: config.port, host: config.host }).catch(explainAddress(config))
  const receiving = { host: config.webhookHost, port: config.webhookPort ?? 0 }
  await receiver?.listen(receiving).catch(explainAddress(receiving, 'WEBHOOK_PORT'))
  const { host, port } = config
  const inClear = hostInClear(config)
  if (inClear) logger.warn({ host: inClear }, CLEAR_TEXT)
  const url = config.publicUrl ?? urlOf({ host, port, address: app.server.address() })
  const receiverUrl = receiver ? urlOf({ ...receiving, address: receiver.server.address() }) : url
  process.stdout.write(taskExamples(url, first.adminKey))
  process.stdout.write(feedbackExample(receiverUrl, first.webhookSecret))
  if (!first.adminKey) process.stdout.write(keyHint(KEY_COMMAND))
  // Loaded after the server listens: requests do not wait for the background worker.
  const { startJobs } = await import('./jobs/index.ts')
  jobs = startJobs({ services: service, logger })
  collectCodeAndGarbage()

  async function embedded(): Promise<EmbeddedServer> {
    const { dataDir } = config
    const server = await startEmbedded({
      dataDir,
      log: logger,
      signal,
      onStarting: application,
      onLost: fail,
    })
    onEnd(server.stop)
    return server
  }
}

/** Checked first: an error after the keys of a first start were shown could hide them. */
async function refuseTakenAddress(address: Pick<Config, 'host' | 'port'>, name = 'PORT') {
  const probe = createServer().listen({ port: address.port, host: address.host })
  await once(probe, 'listening').catch(explainAddress(address, name))
  probe.close()
  await once(probe, 'close')
}

function explainAddress({ host, port }: Pick<Config, 'host' | 'port'>, name = 'PORT') {
  return ({ code, message }: NodeJS.ErrnoException): never => {
    if (code === 'EADDRINUSE')
      throw new Error(
        `Port ${port} on ${host} is already in use. Stop the other process, or set ${name} to another port.`,
      )
    if (code === 'EACCES')
      throw new Error(`You don't have permission to listen on port ${port}. Set ${name} to 1024 or higher.`)
    throw new Error(`Listening on ${host} failed: ${message}`)
  }
}
