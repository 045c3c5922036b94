import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Metrics } from '../services/metrics/index.ts'

/** Counts and times every answer by the pattern of its route: addresses hold ids, and there is no end to them. */
export const countResponses = fp<{ metrics: Pick<Metrics, 'responded'> }>(
  async function countResponses(app: FastifyInstance, { metrics }) {
    app.addHook('onResponse', async ({ method, is404, routeOptions }, reply) => {
      const status = reply.statusCode
      metrics.responded({
        method: METHODS.has(method) ? method : 'other',
        route: is404 ? unmatched(status) : (routeOptions.url ?? 'unmatched'),
        status,
        ms: reply.elapsedTime,
      })
    })
  },
  { name: 'metrics' },
)

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Addresses of the dashboard are no routes, and yet get its page. */
const unmatched = (status: number) => (status < 400 ? 'page' : 'unmatched')
