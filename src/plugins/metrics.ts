import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Metrics } from '../services/metrics/index.ts'

/**
 * Counts errors by their code, and counts and times responses by route pattern: paths contain ids, so they would be an
 * unlimited number of labels.
 */
export const countResponses = fp<{ metrics: Pick<Metrics, 'responded' | 'failed'> }>(
  async function countResponses(app: FastifyInstance, { metrics }) {
    app.addHook('onResponse', async ({ method, is404, routeOptions }, reply) => {
      const status = reply.statusCode
      if (reply.problem) metrics.failed(reply.problem.code)
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

/** Paths of the dashboard are not routes, but return its page. */
const unmatched = (status: number) => (status < 400 ? 'page' : 'unmatched')
