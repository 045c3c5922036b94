import { randomBytes } from 'node:crypto'
import { type Logger, pino } from 'pino'
import { type AppDeps, buildApp } from '../../src/app.ts'
import { githubClient } from '../../src/clients/github.ts'
import { identityProviderClient } from '../../src/clients/identity-provider.ts'
import { webhookReceiver } from '../../src/clients/webhook-receiver.ts'
import { loadConfig } from '../../src/config.ts'
import { encryptionKeysOf } from '../../src/db/embedded/encryption-key.ts'
import { listen } from '../../src/db/listen.ts'
import { openDatabase, poolState } from '../../src/db/pool.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { type TimeShares, timeShares } from '../../src/lib/time-shares.ts'
import { repositories, taskCache, transfersOn } from '../../src/repositories/index.ts'
import { services } from '../../src/services/index.ts'
import { setUp } from '../../src/services/setup.ts'
import { replaceDatabaseClock } from './database-clock.ts'
import { given } from './given.ts'
import { freshDatabase } from './postgres.ts'

export type TestApp = Awaited<ReturnType<typeof startApp>>

export interface TestAppOptions {
  env?: Record<string, string>
  clock?: Clock
  /** The time of the database passes with `passTime`, too. */
  hasDatabaseClock?: boolean
  logger?: Logger
  /** How long a request to the code host may take. */
  hostTimeoutMs?: number
  /** How long a request to an identity provider may take. */
  providerTimeoutMs?: number
  /** How requests to outgoing webhooks are sent. */
  webhookReceiver?: Partial<Parameters<typeof webhookReceiver>[0]>
  /** How many tasks a search reads before it uses the index. */
  walk?: number
  /** How many tasks it examines at most where no index helps. */
  examined?: number
  limits?: AppDeps['limits']
  /** How long a request waits for a connection to the database. */
  connectionWaitMs?: number
  /** Zero is any. */
  port?: number
  /** Set for a second instance on the database of the first. */
  connectionString?: string
  /** How much time sources have used to render; by default, they may use any: on a busy machine, all of it is slow. */
  sourceShares?: TimeShares
  /** Called for each notice of PostgreSQL. */
  onNotice?: (message: string) => void
}

export interface ApiResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of a response.
  body: any
}

/** The status of a response, and the code of its error. */
export const codeOf = ({ status, body }: Pick<ApiResponse, 'status' | 'body'>) => [status, body.code]

export interface CallOptions {
  /** Null sends no key; the default is the admin key. */
  key?: string | null
  body?: unknown
  headers?: Record<string, string>
}

/** The whole service on its own database and port. */
export async function startApp(options: TestAppOptions = {}) {
  const database = options.connectionString ? undefined : await freshDatabase()
  const connectionString = options.connectionString ?? database?.connectionString ?? ''
  if (options.hasDatabaseClock && database) await replaceDatabaseClock(connectionString)
  // A whole test file is one caller; tests of the limits set them.
  const config = loadConfig({
    RATE_LIMIT_PER_MINUTE: '0',
    RATE_LIMIT_FAILURES_PER_MINUTE: '0',
    // Nothing listens there: a test that needs a code host starts its own.
    CODEHOST_API_URLS: 'http://127.0.0.1:9',
    ...options.env,
  })
  const clock = options.clock ?? systemClock()
  const db = openDatabase({ connectionString, size: config.databasePool, onError: () => {} })
  // A busy machine serves 50 requests with 10 connections in seconds: not the 429 or 503 that this is in operation.
  Object.assign(db.$client.options, { connectionTimeoutMillis: options.connectionWaitMs ?? 20_000 })
  const { onNotice } = options
  if (onNotice) {
    db.$client.on('connect', (client) => client.on('notice', ({ message }) => onNotice(message ?? '')))
  }
  const repos = repositories(db, {
    search: { maxScanned: options.walk, maxExamined: options.examined },
    cache: taskCache(db.$client),
  })
  const adminKey = `test-admin-${randomBytes(16).toString('hex')}`
  await setUp({ repos, clock, randomBytes, bootstrapKey: adminKey, hasWebhookSecret: true })
  const codehost = {
    host: githubClient({ timeoutMs: options.hostTimeoutMs ?? 5_000 }),
    apiUrls: config.codehostApiUrls,
    token: config.codehostToken,
    encryptionKeys: await encryptionKeysOf({ ...config, databaseUrl: connectionString }),
  }
  const receiver = webhookReceiver({ allowHosts: config.webhookAllowHosts, ...options.webhookReceiver })
  const transfers = transfersOn(db)
  const logger = options.logger ?? pino({ level: 'silent' })
  const service = services({
    ...{ repos, transfers, clock, randomBytes, codehost, webhookReceiver: receiver },
    logFailure: (about, message) => logger.warn(about, message),
    pool: poolState(db),
    signIn: config.signIn,
    publicUrl: config.publicUrl,
    identity: {
      client: identityProviderClient({ timeoutMs: options.providerTimeoutMs }),
      environment: config.identityProvider,
    },
    sourceShares: options.sourceShares ?? timeShares({ shareMs: Number.POSITIVE_INFINITY, windowMs: 10_000 }),
  })
  const app = await buildApp({ config, logger, services: service, ping: repos.ping, limits: options.limits })
  const { keyId, notices: channels } = service
  const others = listen({ connectionString, channels, keyId, onError: () => {} })
  await others.ready
  const url = await app.listen({ port: options.port ?? 0, host: '127.0.0.1' })

  async function call(
    method: string,
    path: string,
    { key = adminKey, body, headers = {} }: CallOptions = {},
  ): Promise<ApiResponse> {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(key !== null && { 'x-api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text && parsed(text) }
  }

  return {
    app,
    service,
    repos,
    clock,
    url,
    connectionString,
    adminKey,
    call,
    get: (path: string, options?: CallOptions) => call('GET', path, options),
    post: (path: string, body?: unknown, options?: CallOptions) => call('POST', path, { ...options, body }),
    put: (path: string, body?: unknown, options?: CallOptions) => call('PUT', path, { ...options, body }),
    patch: (path: string, body?: unknown, options?: CallOptions) => call('PATCH', path, { ...options, body }),
    delete: (path: string, options?: CallOptions) => call('DELETE', path, options),
    /** A task as the API returns it. */
    task: async (id: string) => (await call('GET', `/api/tasks/${id}`)).body,
    /** Builders of rows. */
    given: given(db, clock),
    query: async (text: string, values: unknown[] = []) => (await db.$client.query(text, values)).rows,
    /** A separate connection, to keep a transaction open. */
    connect: () => db.$client.connect(),
    async close() {
      // fetch opens connections in advance and may never use them; Node does not count those as idle.
      const unused = setTimeout(() => app.server.closeAllConnections(), 1_000)
      await app.close()
      await service.payloadReader.close()
      receiver.close()
      clearTimeout(unused)
      await others.close()
      await db.$client.end()
      await database?.drop()
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
