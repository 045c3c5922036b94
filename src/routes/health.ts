import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { shuttingDown, unavailable } from '../errors/index.ts'
import { responses } from '../schemas/responses.ts'

interface HealthOptions {
  /** Fails when the database does not answer, or is not ours. */
  ping(): Promise<void>
}

const Health = Type.Object({ status: Type.Literal('ok') }, { description: 'All is well.' })

/** For load balancers and supervisors: is the process alive, and should it get requests? */
export const healthRoutes: FastifyPluginAsyncTypebox<HealthOptions> = async (app, { ping }) => {
  app.register(livenessRoutes)

  app.get(
    '/readyz',
    {
      logLevel: 'warn',
      schema: {
        tags: ['Service'],
        operationId: 'getReadiness',
        summary: 'Should it get requests?',
        description:
          'Answers 200 when the database answers and the schema is current; 503 otherwise and while draining.',
        response: { 200: responses(Health, 'It is ready.') },
      },
    },
    async () => {
      if (app.isDraining()) throw shuttingDown()
      // Also a database without our tables is not ready, though it answers.
      await ping().catch((error) => {
        throw unavailable(error)
      })
      return { status: 'ok' as const }
    },
  )
}

/** Is the process alive? */
const livenessRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/healthz',
    {
      logLevel: 'warn',
      schema: {
        tags: ['Service'],
        operationId: 'getHealth',
        summary: 'Is the process alive?',
        description: 'Answers as long as the process does, whatever the database.',
        response: { 200: responses(Health, 'It is alive.') },
      },
    },
    async () => ({ status: 'ok' as const }),
  )
}
