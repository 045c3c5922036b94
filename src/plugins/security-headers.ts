import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** What every answer says of itself, errors included. What may be kept, such as built files, says so in its route. */
export const SAFE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** No answer is kept by a browser or proxy, or taken for another type, unless its route says otherwise. */
export const securityHeaders = fp(
  async function securityHeaders(app: FastifyInstance) {
    app.addHook('onRequest', async (_, reply) => {
      reply.headers(SAFE_HEADERS)
    })
  },
  { name: 'security-headers' },
)
