import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { Config } from './config.ts'
import { isOverShare } from './db/connection-turns.ts'
import { isDatabaseAway, isDiskFull, withoutValues } from './db/database-error.ts'
import { bodyStalled, tooManyBodies, unreadableAddress } from './errors/index.ts'
import { bodyIntake } from './lib/body-intake.ts'
import { lazily } from './lib/lazy.ts'
import { minuteLimit } from './lib/minute-limit.ts'
import { refuseMalformed } from './lib/refuse-malformed.ts'
import { responseBudget } from './lib/response-budget.ts'
import { jsonBody } from './plugins/json-body.ts'
import { largeResponses } from './plugins/large-responses.ts'
import { methods } from './plugins/methods.ts'
import { countResponses } from './plugins/metrics.ts'
import { problems, sendProblem } from './plugins/problems/index.ts'
import { logAtEnd, requestId, requests } from './plugins/requests.ts'
import { securityHeaders } from './plugins/security-headers.ts'
import { BODY_STALL_MS, CHECK_MS, HEADERS_MS, timeouts } from './plugins/timeouts.ts'
import { validation } from './plugins/validation.ts'
import { failureLimit } from './services/failure-limit.ts'
import type { Services } from './services/index.ts'

interface BareAppDeps {
  config: Config
  logger: FastifyBaseLogger
  services: Pick<Services, 'metrics'>
  /** Whether the disk of the embedded database is full. */
  isDiskFull?: (() => boolean) | undefined
  limits: Limits
}

const MIB = 1024 * 1024

/** The plugins that all apps of this process have in common, without routes. */
export async function bareApp({ config, logger, services: { metrics }, limits, ...deps }: BareAppDeps) {
  const app = fastify({
    loggerInstance: logger,
    // `plugins/requests.ts` logs one line for each response.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    trustProxy: config.trustProxy,
    bodyLimit: 1024 * 1024,
    // Senders of feedback reuse connections: one that is closed as they send costs them a retry.
    keepAliveTimeout: 72_000,
    // `plugins/timeouts.ts` limits the time of a body, with exceptions.
    requestTimeout: 0,
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: CHECK_MS },
    // Requests that arrive while draining are still processed; `plugins/requests.ts` closes their connections.
    return503OnClosing: false,
    forceCloseConnections: false,
    // The longest URL that Node accepts: a long id is rejected by its schema, after the guards.
    routerOptions: { maxParamLength: 16_384 },
    // Errors before routing: the only one is a URL that cannot be decoded.
    // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
    frameworkErrors(_error, request, reply) {
      logAtEnd(request, reply)
      sendProblem(reply, unreadableAddress())
    },
    clientErrorHandler: (error, socket) => refuseMalformed(error, { socket, logger }),
    schemaController: { compilersFactory: { buildSerializer: lazySerializers } },
  }).withTypeProvider<TypeBoxTypeProvider>()

  if (config.traces) await app.register((await import('./plugins/trace-requests.ts')).traceRequests)
  await app.register(securityHeaders)
  await app.register(requests)
  await app.register(timeouts)
  await app.register(countResponses, { metrics })
  await app.register(problems, {
    isDatabaseAway,
    isOverShare,
    withoutValues,
    isDiskFull: (error) => isDiskFull(error) || deps.isDiskFull?.() === true,
  })
  await app.register(validation)
  await app.register(jsonBody, limits)
  await app.register(largeResponses, limits)
  await app.register(methods)
  return app
}

export type Limits = ReturnType<typeof limitsOf>

/** Limits shared by all apps of a process, so that a second port does not double them. */
export function limitsOf(config: Config) {
  return {
    receiver: minuteLimit(config.rateLimitReceiverPerMinute),
    failures: failureLimit(config.rateLimitFailuresPerMinute),
    // Begun sign-ins of an address, which are stored: more than a whole office begins.
    attempts: minuteLimit(5 * config.rateLimitFailuresPerMinute),
    bodyIntake: bodyIntake({
      maxTotalBytes: 128 * MIB,
      // For one key: twelve of the maximum size.
      maxHolderBytes: 48 * MIB,
      stallMs: BODY_STALL_MS,
      refusals: { stalled: bodyStalled, full: tooManyBodies },
    }),
    // Bodies whose sender is known only once they are complete. Sixteen of the maximum size.
    unverifiedIntake: bodyIntake({
      maxTotalBytes: 64 * MIB,
      stallMs: BODY_STALL_MS,
      refusals: { stalled: bodyStalled, full: tooManyBodies },
    }),
    // Of one key: several of the largest, and room for others beside them.
    responseBudget: responseBudget({ maxTotalBytes: 128 * MIB, maxHolderBytes: 48 * MIB }),
  }
}

/** Compiles each serializer with its first response: compiling all took a fifth of the startup time. */
const lazySerializers: ReturnType<typeof SerializerSelector> = (externalSchemas, options) => {
  const compile = SerializerSelector()(externalSchemas, options)
  return (route) => {
    const serializer = lazily(() => compile(route))
    return (data) => serializer()(data)
  }
}
