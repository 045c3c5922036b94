import cookie from '@fastify/cookie'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { bareApp, type Limits, limitsOf } from './bare-app.ts'
import type { Config } from './config.ts'
import { isDatabaseAway } from './db/database-error.ts'
import { deliveryUnavailable, invalidSender, invalidSignature } from './errors/index.ts'
import { refuseForeignOrigins, requireAssistant } from './guards/assistant.ts'
import { requireWebhookSecret } from './guards/bearer-secret.ts'
import { noCallerYet, ownOrigin, requireCaller, requireOwnOrigin, requireScope } from './guards/caller.ts'
import { codehostSender } from './guards/codehost-signature.ts'
import { senderGuards } from './guards/delivery-sender.ts'
import { checkEarly, oncePerRequest } from './guards/early.ts'
import { refuseDuringImport } from './guards/import-in-progress.ts'
import { limitInFlight } from './guards/in-flight.ts'
import { requireMetricsReader } from './guards/metrics-reader.ts'
import { limitRequests } from './guards/rate-limit.ts'
import { sourceSender } from './guards/source-sender.ts'
import { workFor, workForCaller } from './guards/work-owner.ts'
import { minuteLimit } from './lib/minute-limit.ts'
import { retryBuffer } from './lib/retry-buffer.ts'
import { mcpRoutes } from './mcp/index.ts'
import { registrationRoutes } from './mcp/registration.ts'
import { compression } from './plugins/compression.ts'
import { etags } from './plugins/etags.ts'
import { idempotency } from './plugins/idempotency.ts'
import { longRequests } from './plugins/long-requests.ts'
import { openapi } from './plugins/openapi/index.ts'
import { pages } from './plugins/pages.ts'
import { activityRoutes } from './routes/activity.ts'
import { invitesAtProvidersRoutes, providerSignInRoutes } from './routes/auth.ts'
import { bulkRoutes } from './routes/bulk.ts'
import { changesRoutes } from './routes/changes.ts'
import { claimsRoutes } from './routes/claims.ts'
import { codehostRoutes } from './routes/codehost.ts'
import { commentsRoutes } from './routes/comments.ts'
import { contextRoutes } from './routes/context.ts'
import { dashboardRoutes } from './routes/dashboard.ts'
import { deliveriesRoutes } from './routes/deliveries.ts'
import { docsRoutes } from './routes/docs.ts'
import { exportRoutes } from './routes/export.ts'
import { receiverRoutes } from './routes/feedback.ts'
import { healthRoutes } from './routes/health.ts'
import { identitiesRoutes } from './routes/identities.ts'
import { identityProvidersRoutes } from './routes/identity-providers.ts'
import { importRoutes } from './routes/import.ts'
import { keysRoutes } from './routes/keys.ts'
import { listsRoutes } from './routes/lists.ts'
import { meRoutes } from './routes/me.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { followsRoutes, notificationsRoutes } from './routes/notifications.ts'
import { overviewRoutes } from './routes/overview.ts'
import { passkeyChallengeRoutes, passkeysRoutes } from './routes/passkeys.ts'
import { peopleRoutes } from './routes/people.ts'
import { personalKeysRoutes } from './routes/personal-keys.ts'
import { problemsRoutes } from './routes/problems.ts'
import { projectsRoutes } from './routes/projects.ts'
import { pushRoutes } from './routes/push.ts'
import { reportsRoutes } from './routes/reports.ts'
import { rulesRoutes } from './routes/rules.ts'
import { savedFiltersRoutes } from './routes/saved-filters.ts'
import { sessionsRoutes, signInRoutes } from './routes/sessions.ts'
import { sourceDeliveriesRoutes } from './routes/source-deliveries.ts'
import { sourcePresetsRoutes } from './routes/source-presets.ts'
import { sourceTestsRoutes } from './routes/source-tests.ts'
import { sourcesRoutes } from './routes/sources.ts'
import { statusRoutes } from './routes/status.ts'
import { streamRoutes } from './routes/stream.ts'
import { taskNamesRoutes } from './routes/task-names.ts'
import { tasksRoutes } from './routes/tasks.ts'
import { webhookRoutingRoutes } from './routes/webhook-routing.ts'
import { webhookSecretsRoutes } from './routes/webhook-secrets.ts'
import { webhooksRoutes } from './routes/webhooks.ts'
import { namedSchemas } from './schemas/index.ts'
import type { Services } from './services/index.ts'

export { limitsOf }

export interface AppDeps {
  config: Config
  logger: FastifyBaseLogger
  services: Services
  /** Rejects if the database does not respond. */
  ping(): Promise<void>
  /** Whether connections with a session of their own work, if they have a URL of their own. */
  isDirectUp?: (() => boolean) | undefined
  /** Whether the disk of the embedded database is full. */
  isDiskFull?: (() => boolean) | undefined
  /** Shared by all apps of a process. */
  limits?: Limits | undefined
}

/** All routes, in scopes that define who may call them. */
export async function buildApp({
  config,
  logger,
  services: service,
  ping,
  isDirectUp,
  isDiskFull,
  limits = limitsOf(config),
}: AppDeps): Promise<FastifyInstance> {
  const app = await bareApp({ config, logger, services: service, isDiskFull, limits })
  await app.register(cookie)
  await app.register(etags)
  await app.register(pages)
  await app.register(longRequests)
  await app.register(idempotency, { services: service })
  await app.register(compression)
  await app.register(openapi)
  await app.register(docsRoutes)
  await app.register(dashboardRoutes)

  const { failures } = limits
  const isOwnOrigin = ownOrigin(config.publicUrl)
  const ofOwnOrigin = requireOwnOrigin(isOwnOrigin)
  const isPublicHttps = config.publicUrl?.startsWith('https:') ?? false
  const limitCaller = limitRequests({
    policy: 'key',
    limit: minuteLimit(config.rateLimitPerMinute),
    nameOf: ({ caller }) => caller.principal.id,
  })
  const limitAttempts = limitRequests({ policy: 'address', limit: limits.attempts, nameOf: ({ ip }) => ip })
  const limitAtOnce = limitInFlight({ maxPerKey: 100, maxTotal: 500, maxLongPerKey: 20 })
  app.decorateRequest('caller', noCallerYet())
  app.decorateRequest('inFlight')

  app.register(async function forAnybody(scope) {
    scope.addHook('preHandler', workFor('strangers'))
    // Signing in writes, too.
    scope.addHook('preHandler', refuseDuringImport(service.importing))
    scope.register(healthRoutes, { ping, isDirectUp })
    scope.register(problemsRoutes, { prefix: '/problems' })
    scope.register(registrationRoutes, { prefix: '/register' })
    scope.register(signInRoutes, {
      prefix: '/api',
      ...service,
      failures,
      limitCaller,
      requireOwnOrigin: ofOwnOrigin,
      isPublicHttps,
    })
    const ofStrangers = { ...service, guards: [ofOwnOrigin, limitAttempts], isPublicHttps }
    scope.register(passkeyChallengeRoutes, { prefix: '/api', ...ofStrangers })
    scope.register(invitesAtProvidersRoutes, { prefix: '/api', ...ofStrangers })
    const { attempts } = limits
    scope.register(providerSignInRoutes, { prefix: '/auth', ...service, attempts, isPublicHttps })
  })

  const requireKey = oncePerRequest(requireCaller({ access: service.access, failures, isOwnOrigin }))

  app.register(async function forApiKeyHolders(scope) {
    scope.addHook('onRequest', checkEarly(requireKey, limitCaller.peek, requireScope, limitAtOnce.peek))
    scope.addHook('preHandler', requireKey)
    scope.addHook('preHandler', limitCaller)
    scope.addHook('preHandler', requireScope)
    scope.addHook('preHandler', limitAtOnce)
    scope.addHook('preHandler', refuseDuringImport(service.importing))
    scope.addHook('preHandler', workForCaller)
    scope.register(meRoutes, { prefix: '/api/me', ...service, isPublicHttps })
    scope.register(passkeysRoutes, { prefix: '/api/me/passkeys', ...service, isPublicHttps })
    scope.register(identitiesRoutes, { prefix: '/api/me/identities', ...service, isPublicHttps })
    scope.register(identityProvidersRoutes, { prefix: '/api/identity-providers', ...service })
    scope.register(sessionsRoutes, { prefix: '/api/sessions', ...service })
    scope.register(peopleRoutes, { prefix: '/api', ...service, publicUrl: config.publicUrl })
    scope.register(personalKeysRoutes, { prefix: '/api/me/keys', ...service })
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
    scope.register(claimsRoutes, { prefix: '/api/tasks', ...service })
    scope.register(reportsRoutes, { prefix: '/api/tasks', ...service })
    scope.register(followsRoutes, { prefix: '/api/tasks', ...service })
    scope.register(bulkRoutes, { prefix: '/api/tasks/bulk', ...service })
    scope.register(taskNamesRoutes, { prefix: '/api', ...service })
    scope.register(overviewRoutes, { prefix: '/api/overview', ...service })
    scope.register(savedFiltersRoutes, { prefix: '/api/saved-filters', ...service })
    scope.register(commentsRoutes, { prefix: '/api', ...service })
    scope.register(notificationsRoutes, { prefix: '/api/notifications', ...service })
    scope.register(projectsRoutes, { prefix: '/api/projects', ...service })
    scope.register(listsRoutes, { prefix: '/api', ...service })
    scope.register(codehostRoutes, { prefix: '/api', ...service, publicUrl: config.publicUrl })
    scope.register(deliveriesRoutes, { prefix: '/api/deliveries', ...service })
    scope.register(sourceTestsRoutes, { prefix: '/api/sources', ...service })
    scope.register(sourcePresetsRoutes, { prefix: '/api/source-presets', ...service })
    scope.register(sourcesRoutes, { prefix: '/api/sources', ...service, publicUrl: config.publicUrl })
    scope.register(webhooksRoutes, { prefix: '/api/webhooks', ...service })
    scope.register(rulesRoutes, { prefix: '/api/rules', ...service })
    scope.register(contextRoutes, { prefix: '/api/context', ...service })
    scope.register(statusRoutes, { prefix: '/api/status', ...service })
    scope.register(activityRoutes, { prefix: '/api/activity', ...service })
    scope.register(changesRoutes, { prefix: '/api/changes', ...service })
    scope.register(streamRoutes, { prefix: '/api/stream', ...service })
    scope.register(webhookRoutingRoutes, { prefix: '/api/webhook-routing', ...service })
    scope.register(exportRoutes, { prefix: '/api/export', ...service })
    scope.register(importRoutes, { prefix: '/api/import', ...service })
  })

  app.register(async function forMetricsReaders(scope) {
    const { access } = service
    scope.addHook('preHandler', requireMetricsReader({ access, requireCaller: requireKey, isDatabaseAway }))
    scope.addHook('preHandler', limitCaller)
    scope.addHook('preHandler', requireScope)
    scope.addHook('preHandler', limitAtOnce)
    scope.addHook('preHandler', workForCaller)
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
    scope.addHook('preHandler', workForCaller)
    scope.register(mcpRoutes, { prefix: '/mcp', ...service })
  })

  return app
}

/** An app with only the receivers, for a port of its own that faces the internet. */
export async function buildReceiver({
  config,
  logger,
  services,
  isDiskFull,
  limits = limitsOf(config),
}: Omit<AppDeps, 'ping'>): Promise<FastifyInstance> {
  const app = await bareApp({ config, logger, services, isDiskFull, limits })
  for (const schema of namedSchemas) app.addSchema(schema)
  app.register(receivers, { config, services, limits })
  return app
}

/** The receivers of feedback, code host deliveries, and sources: their senders have secrets of their own. */
async function receivers(
  scope: FastifyInstance,
  { config, services, limits }: Pick<AppDeps, 'config' | 'services'> & { limits: Limits },
) {
  // Twice: reading the body ends what the first one began.
  scope.addHook('onRequest', workFor('receivers'))
  scope.addHook('preHandler', workFor('receivers'))
  const buffering = {
    isTransient: isDatabaseAway,
    refusal: deliveryUnavailable,
    onBuffered: services.metrics.buffered,
  }
  const buffer = retryBuffer(buffering)
  const { webhookSecret } = config
  const { failures } = limits
  const limit = limitRequests({ policy: 'receiver', limit: limits.receiver, nameOf: () => 'all' })
  const refuseChanges = refuseDuringImport(services.importing)
  const requireSecret = requireWebhookSecret({ access: services.access, failures, buffer, webhookSecret })
  const guards = [requireSecret, limit, refuseChanges]
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
    guards: [hosts.verifyBody, limit, refuseChanges],
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
    guards: [senders.verifyBody, limit, refuseChanges],
    buffer,
    unverifiedIntake: limits.unverifiedIntake,
  })
}
