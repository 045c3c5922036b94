import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { databaseUnavailable, shuttingDown, unavailable } from '../errors/index.ts'
import { responses } from '../schemas/responses.ts'

interface HealthOptions {
  /** Rejects if the database does not respond, or its schema is not current. */
  ping(): Promise<void>
  /** Whether connections with a session of their own work, if they have a URL of their own. */
  isDirectUp?: (() => boolean) | undefined
}

const Health = Type.Object({ status: Type.Literal('ok') }, { description: 'The service is healthy.' })

const Readiness = Type.Object(
  {
    status: Type.Literal('ok'),
    unavailable: Type.Optional(
      Type.Array(Type.Union([Type.Literal('DATABASE_DIRECT_URL'), Type.Literal('disk')]), {
        maxItems: 2,
        description:
          'What is unavailable although the instance takes requests. Exports, imports, and cleanup wait for `DATABASE_DIRECT_URL`, and changes by other instances take effect after a few seconds. `disk`: within the last minute, a write was refused because the disk of the database is full. Reads succeed.',
      }),
    ),
  },
  { description: 'The service takes requests.' },
)

/** Liveness and readiness, for load balancers and supervisors. */
export const healthRoutes: FastifyPluginAsyncTypebox<HealthOptions> = async (app, { ping, isDirectUp }) => {
  app.register(livenessRoutes)

  app.get(
    '/readyz',
    {
      logLevel: 'warn',
      schema: {
        tags: ['Service'],
        operationId: 'getReadiness',
        summary: 'Check readiness',
        description:
          'Returns 200 if the database responds and its schema is current. Otherwise, and while the instance is shutting down, returns 503.',
        response: { 200: responses(Readiness, { description: 'The instance is ready.' }) },
      },
    },
    async () => {
      if (app.isDraining()) throw shuttingDown()
      // A database that responds without our tables is not ready, either.
      await ping().catch((error) => {
        throw isDirectUp
          ? databaseUnavailable(['DATABASE_URL', ...(isDirectUp() ? [] : ['DATABASE_DIRECT_URL'])], error)
          : unavailable(error)
      })
      const missing = [
        ...(isDirectUp?.() === false ? ['DATABASE_DIRECT_URL' as const] : []),
        ...(app.isDiskFull() ? ['disk' as const] : []),
      ]
      return { status: 'ok' as const, ...(missing.length > 0 && { unavailable: missing }) }
    },
  )
}

const livenessRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/healthz',
    {
      logLevel: 'warn',
      schema: {
        tags: ['Service'],
        operationId: 'getHealth',
        summary: 'Check health',
        description: 'Returns 200 while the process is running, regardless of the database.',
        response: { 200: responses(Health, { description: 'The process is running.' }) },
      },
    },
    async () => ({ status: 'ok' as const }),
  )
}
