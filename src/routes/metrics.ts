import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Services } from '../services/index.ts'
import { metricsOperations } from '../services/metrics/index.ts'

/** Metrics for Prometheus. */
export const metricsRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'metrics'>> = async (
  app,
  { metrics },
) => {
  metrics.onError((err) => app.log.warn({ err }, 'could not read metrics from the database'))
  app.get(
    '',
    {
      logLevel: 'warn',
      config: { operation: metricsOperations.text },
      schema: {
        tags: ['Service'],
        operationId: 'getMetrics',
        summary: 'Retrieve metrics',
        description:
          'Returns the metrics of this instance in the Prometheus text format. Works while the database is unavailable: `inlet_database_up` is 0 then, and keys that were used here before are still accepted.',
        response: {
          200: {
            description: 'The metrics.',
            headers: {
              'x-request-id': Type.String({ description: 'The ID of the request. It is also in the log.' }),
            },
            content: {
              'text/plain': { schema: Type.String({ description: 'Prometheus text format 0.0.4.' }) },
            },
          },
        },
      },
    },
    async (_, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.text()),
  )
}
