import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Headers of every response, errors included. Routes of cacheable content, such as built files, override them. */
export const SAFE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** Prevents caching by browsers and proxies, and content type sniffing, unless a route allows it. */
export const securityHeaders = fp(
  async function securityHeaders(app: FastifyInstance) {
    app.addHook('onRequest', async (_, reply) => {
      reply.headers(SAFE_HEADERS)
    })
  },
  { name: 'security-headers' },
)
