import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { shuttingDown, unavailable } from '../errors/index.ts'
import { responses } from '../schemas/responses.ts'

interface HealthOptions {
  /** Rejects if the database does not respond, or its schema is not current. */
  ping(): Promise<void>
}

const Health = Type.Object({ status: Type.Literal('ok') }, { description: 'The service is healthy.' })

/** Liveness and readiness, for load balancers and supervisors. */
export const healthRoutes: FastifyPluginAsyncTypebox<HealthOptions> = async (app, { ping }) => {
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
        response: { 200: responses(Health, { description: 'The instance is ready.' }) },
      },
    },
    async () => {
      if (app.isDraining()) throw shuttingDown()
      // A database that responds without our tables is not ready, either.
      await ping().catch((error) => {
        throw unavailable(error)
      })
      return { status: 'ok' as const }
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
