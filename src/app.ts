import cookie from '@fastify/cookie'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Config } from './config.ts'
import { isDatabaseAway, withoutValues } from './db/database-error.ts'
import type { WorkerJobs } from './domain/worker-jobs.ts'
import {
  bodyStalled,
  bodyTooLarge,
  deliveryUnavailable,
  invalidSender,
  invalidSignature,
  tooManyBodies,
  tooManyLargeBodies,
  unreadableAddress,
  workerLost,
} from './errors/index.ts'
import { refuseForeignOrigins, requireAssistant } from './guards/assistant.ts'
import { requireWebhookSecret } from './guards/bearer-secret.ts'
import { noCallerYet, ownOrigin, requireCaller, requireScope } from './guards/caller.ts'
import { codehostSender } from './guards/codehost-signature.ts'
import { senderGuards } from './guards/delivery-sender.ts'
import { checkEarly, oncePerRequest } from './guards/early.ts'
import { limitInFlight } from './guards/in-flight.ts'
import { requireMetricsReader } from './guards/metrics-reader.ts'
import { limitRequests } from './guards/rate-limit.ts'
import { sourceSender } from './guards/source-sender.ts'
import { bodyIntake } from './lib/body-intake.ts'
import { byteBudget } from './lib/byte-budget.ts'
import { lazily } from './lib/lazy.ts'
import { minuteLimit } from './lib/minute-limit.ts'
import { refuseMalformed } from './lib/refuse-malformed.ts'
import { responseBudget } from './lib/response-budget.ts'
import { retryBuffer } from './lib/retry-buffer.ts'
import { sideThread } from './lib/side-thread.ts'
import { mcpRoutes } from './mcp/index.ts'
import { etags } from './plugins/etags.ts'
import { idempotency } from './plugins/idempotency.ts'
import { jsonBody } from './plugins/json-body.ts'
import { largeResponses } from './plugins/large-responses.ts'
import { methods } from './plugins/methods.ts'
import { countResponses } from './plugins/metrics.ts'
import { openapi } from './plugins/openapi/index.ts'
import { pages } from './plugins/pages.ts'
import { problems, sendProblem } from './plugins/problems/index.ts'
import { requestId, requests } from './plugins/requests.ts'
import { securityHeaders } from './plugins/security-headers.ts'
import { BODY_STALL_MS, CHECK_MS, HEADERS_MS, REQUEST_MS, timeouts } from './plugins/timeouts.ts'
import { validation } from './plugins/validation.ts'
import { activityRoutes } from './routes/activity.ts'
import { bulkRoutes } from './routes/bulk.ts'
import { codehostRoutes } from './routes/codehost.ts'
import { commentsRoutes } from './routes/comments.ts'
import { contextRoutes } from './routes/context.ts'
import { dashboardRoutes } from './routes/dashboard.ts'
import { deliveriesRoutes } from './routes/deliveries.ts'
import { docsRoutes } from './routes/docs.ts'
import { receiverRoutes } from './routes/feedback.ts'
import { feedbackEventsRoutes } from './routes/feedback-events.ts'
import { healthRoutes } from './routes/health.ts'
import { keysRoutes } from './routes/keys.ts'
import { listsRoutes } from './routes/lists.ts'
import { meRoutes } from './routes/me.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { problemsRoutes } from './routes/problems.ts'
import { projectsRoutes } from './routes/projects.ts'
import { pushRoutes } from './routes/push.ts'
import { reportsRoutes } from './routes/reports.ts'
import { rulesRoutes } from './routes/rules.ts'
import { savedFiltersRoutes } from './routes/saved-filters.ts'
import { sessionsRoutes, signInRoutes } from './routes/sessions.ts'
import { sourceDeliveriesRoutes } from './routes/source-deliveries.ts'
import { sourceEventsRoutes } from './routes/source-events.ts'
import { sourcePresetsRoutes } from './routes/source-presets.ts'
import { sourcesRoutes } from './routes/sources.ts'
import { streamRoutes } from './routes/stream.ts'
import { taskNamesRoutes } from './routes/task-names.ts'
import { tasksRoutes } from './routes/tasks.ts'
import { webhookRoutingRoutes } from './routes/webhook-routing.ts'
import { webhookSecretsRoutes } from './routes/webhook-secrets.ts'
import { namedSchemas } from './schemas/index.ts'
import { failureLimit } from './services/failure-limit.ts'
import type { Services } from './services/index.ts'

export interface AppDeps {
  config: Config
  logger: FastifyBaseLogger
  services: Services
  /** Rejects if the database does not respond. */
  ping(): Promise<void>
  /** Shared by all apps of a process. */
  limits?: Limits | undefined
}

const MIB = 1024 * 1024

type Limits = ReturnType<typeof limitsOf>

/** Limits shared by all apps of a process, so that a second port does not double them. */
export function limitsOf(config: Config) {
  return {
    receiver: minuteLimit(config.rateLimitReceiverPerMinute),
    failures: failureLimit(config.rateLimitFailuresPerMinute),
    bodyIntake: bodyIntake({
      maxTotalBytes: 128 * MIB,
      // For one key: one body of the maximum size, and room for others.
      maxHolderBytes: 48 * MIB,
      stallMs: BODY_STALL_MS,
      refusals: { tooLarge: bodyTooLarge, stalled: bodyStalled, full: tooManyBodies },
    }),
    // Bodies whose sender is known only once they are complete. For one route: one of the maximum size, and others.
    unverifiedIntake: bodyIntake({
      maxTotalBytes: 64 * MIB,
      stallMs: BODY_STALL_MS,
      refusals: { tooLarge: bodyTooLarge, stalled: bodyStalled, full: tooManyBodies },
    }),
    bulkWork: byteBudget({
      maxBytes: 64 * MIB,
      waitMs: 10_000,
      refusal: tooManyLargeBodies,
    }),
    // Of one key: several of the largest, and room for others beside them.
    responseBudget: responseBudget({ maxTotalBytes: 128 * MIB, maxHolderBytes: 48 * MIB }),
    worker: sideThread<WorkerJobs>({
      file: new URL('./worker.ts', import.meta.url),
      maxHeapMb: 256,
      maxWaitingBytes: 64 * MIB,
      refusalWhenFull: tooManyLargeBodies,
      failureOf: workerLost,
    }),
  }
}

/** All routes, in scopes that define who may call them. */
export async function buildApp({
  config,
  logger,
  services: service,
  ping,
  limits = limitsOf(config),
}: AppDeps): Promise<FastifyInstance> {
  const app = await bareApp({ config, logger, services: service, limits })
  await app.register(cookie)
  await app.register(etags)
  await app.register(pages)
  await app.register(idempotency, { services: service })
  await app.register(openapi)
  await app.register(docsRoutes)
  await app.register(dashboardRoutes)

  const { failures } = limits
  const isOwnOrigin = ownOrigin(config.publicUrl)
  const limitCaller = limitRequests({
    policy: 'key',
    limit: minuteLimit(config.rateLimitPerMinute),
    nameOf: ({ caller }) => caller.keyId,
  })
  const limitAtOnce = limitInFlight({ maxPerKey: 100, maxTotal: 500, maxLongPerKey: 20 })
  app.decorateRequest('caller', noCallerYet())

  app.register(async function forAnybody(scope) {
    scope.register(healthRoutes, { ping })
    scope.register(problemsRoutes, { prefix: '/problems' })
    scope.register(signInRoutes, {
      prefix: '/api/sessions',
      ...service,
      failures,
      limitCaller,
      isOwnOrigin,
      isPublicHttps: config.publicUrl?.startsWith('https:') ?? false,
    })
  })

  const requireKey = oncePerRequest(requireCaller({ access: service.access, failures, isOwnOrigin }))

  app.register(async function forApiKeyHolders(scope) {
    scope.addHook('onRequest', checkEarly(requireKey, limitCaller.peek, requireScope, limitAtOnce.peek))
    scope.addHook('preHandler', requireKey)
    scope.addHook('preHandler', limitCaller)
    scope.addHook('preHandler', requireScope)
    scope.addHook('preHandler', limitAtOnce)
    scope.register(meRoutes, { prefix: '/api/me', ...service })
    scope.register(sessionsRoutes, { prefix: '/api/sessions', ...service })
    scope.register(keysRoutes, { prefix: '/api/keys', ...service })
    scope.register(webhookSecretsRoutes, {
      prefix: '/api/webhook-secrets',
      ...service,
      receiver: {
        baseUrl: config.publicUrl ?? null,
        port: config.webhookPort ?? null,
        hasEnvironmentSecret: config.webhookSecret !== undefined,
      },
    })
    scope.register(tasksRoutes, { prefix: '/api/tasks', ...service })
    scope.register(reportsRoutes, { prefix: '/api/tasks', ...service })
    scope.register(bulkRoutes, { prefix: '/api/tasks/bulk', ...service })
    scope.register(taskNamesRoutes, { prefix: '/api', ...service })
    scope.register(savedFiltersRoutes, { prefix: '/api/saved-filters', ...service })
    scope.register(commentsRoutes, { prefix: '/api', ...service })
    scope.register(projectsRoutes, { prefix: '/api/projects', ...service })
    scope.register(listsRoutes, { prefix: '/api', ...service })
    scope.register(codehostRoutes, { prefix: '/api', ...service, publicUrl: config.publicUrl })
    scope.register(deliveriesRoutes, { prefix: '/api/codehost', ...service })
    scope.register(sourceEventsRoutes, { prefix: '/api/sources', ...service })
    scope.register(sourcePresetsRoutes, { prefix: '/api/source-presets', ...service })
    scope.register(sourcesRoutes, { prefix: '/api/sources', ...service, publicUrl: config.publicUrl })
    scope.register(rulesRoutes, { prefix: '/api/rules', ...service })
    scope.register(contextRoutes, { prefix: '/api/context', ...service })
    scope.register(activityRoutes, { prefix: '/api/activity', ...service })
    scope.register(streamRoutes, { prefix: '/api/stream', ...service })
    scope.register(feedbackEventsRoutes, { prefix: '/api/analytics/events', ...service })
    scope.register(webhookRoutingRoutes, { prefix: '/api/webhook-routing', ...service })
  })

  app.register(async function forMetricsReaders(scope) {
    const { access } = service
    scope.addHook('preHandler', requireMetricsReader({ access, requireCaller: requireKey, isDatabaseAway }))
    scope.addHook('preHandler', limitCaller)
    scope.addHook('preHandler', requireScope)
    scope.addHook('preHandler', limitAtOnce)
    scope.register(metricsRoutes, { prefix: '/metrics', ...service })
  })

  app.register(receivers, { config, services: service, limits })

  app.register(async function forAssistants(scope) {
    const requireKey = oncePerRequest(requireAssistant({ access: service.access, failures }))
    const requireKnownOrigin = refuseForeignOrigins(config)
    scope.addHook(
      'onRequest',
      checkEarly(requireKey, requireKnownOrigin, limitCaller.peek, requireScope, limitAtOnce.peek),
    )
    scope.addHook('preHandler', requireKey)
    scope.addHook('preHandler', requireKnownOrigin)
    scope.addHook('preHandler', limitCaller)
    scope.addHook('preHandler', requireScope)
    scope.addHook('preHandler', limitAtOnce)
    scope.register(mcpRoutes, { prefix: '/mcp', ...service })
  })

  return app
}

/** An app with only the receivers, for a port of its own that faces the internet. */
export async function buildReceiver({
  config,
  logger,
  services,
  limits = limitsOf(config),
}: Omit<AppDeps, 'ping'>): Promise<FastifyInstance> {
  const app = await bareApp({ config, logger, services, limits })
  for (const schema of namedSchemas) app.addSchema(schema)
  app.register(receivers, { config, services, limits })
  return app
}

/** The plugins that all apps of this process have in common, without routes. */
async function bareApp({
  config,
  logger,
  services: { metrics },
  limits,
}: Omit<AppDeps, 'ping' | 'limits'> & { limits: Limits }) {
  const app = fastify({
    loggerInstance: logger,
    // `plugins/requests.ts` logs one line for each response.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    trustProxy: config.trustProxy,
    bodyLimit: 1024 * 1024,
    // Senders of feedback reuse connections: one that is closed as they send costs them a retry.
    keepAliveTimeout: 72_000,
    requestTimeout: REQUEST_MS,
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: CHECK_MS },
    // Requests that arrive while draining are still processed; `plugins/requests.ts` closes their connections.
    return503OnClosing: false,
    forceCloseConnections: false,
    // The longest URL that Node accepts: a long id is rejected by its schema, after the guards.
    routerOptions: { maxParamLength: 16_384 },
    // Errors before routing: the only one is a URL that cannot be decoded.
    // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
    frameworkErrors: (_error, _request, reply) => sendProblem(reply, unreadableAddress()),
    clientErrorHandler: refuseMalformed,
    schemaController: { compilersFactory: { buildSerializer: lazySerializers } },
  }).withTypeProvider<TypeBoxTypeProvider>()

  await app.register(securityHeaders)
  await app.register(requests)
  await app.register(timeouts)
  await app.register(countResponses, { metrics })
  await app.register(problems, { isDatabaseAway, withoutValues })
  await app.register(validation)
  await app.register(jsonBody, limits)
  await app.register(largeResponses, limits)
  await app.register(methods)
  return app
}

/** Compiles each serializer with its first response: compiling all took a fifth of the startup time. */
const lazySerializers: ReturnType<typeof SerializerSelector> = (externalSchemas, options) => {
  const compile = SerializerSelector()(externalSchemas, options)
  return (route) => {
    const serializer = lazily(() => compile(route))
    return (data) => serializer()(data)
  }
}

/** The receivers of feedback, of deliveries of the code host, and of the sources: their senders have secrets of their own. */
async function receivers(
  scope: FastifyInstance,
  { config, services, limits }: Pick<AppDeps, 'config' | 'services'> & { limits: Limits },
) {
  const buffering = {
    isTransient: isDatabaseAway,
    refusal: deliveryUnavailable,
    onBuffered: services.metrics.buffered,
  }
  const buffer = retryBuffer(buffering)
  const { webhookSecret } = config
  const { failures } = limits
  const limit = limitRequests({ policy: 'receiver', limit: limits.receiver, nameOf: () => 'all' })
  const guards = [requireWebhookSecret({ access: services.access, failures, buffer, webhookSecret }), limit]
  scope.register(receiverRoutes, { prefix: '/api/analytics', ...services, guards, buffer })

  // The code host waits 10 s, and never sends again by itself.
  const pushBuffer = retryBuffer({ ...buffering, retryMs: 8_000 })
  const hosts = senderGuards({
    findSender: codehostSender(services.push),
    refusal: invalidSignature,
    failures,
    buffer: pushBuffer,
  })
  scope.register(pushRoutes, {
    prefix: '/in',
    ...services,
    senders: hosts,
    earlyGuards: [hosts.requireSender, limit.peek],
    // Only verified deliveries count towards the limit.
    guards: [hosts.verifyBody, limit],
    buffer: pushBuffer,
    bodyIntake: limits.unverifiedIntake,
  })

  const senders = senderGuards({
    findSender: sourceSender(services.sourceSenders),
    refusal: invalidSender,
    failures,
    buffer,
  })
  scope.register(sourceDeliveriesRoutes, {
    prefix: '/in',
    ...services,
    senders,
    earlyGuards: [senders.requireSender, limit.peek],
    guards: [senders.verifyBody, limit],
    buffer,
    unverifiedIntake: limits.unverifiedIntake,
  })
}
