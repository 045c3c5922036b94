import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** What every answer says of itself, errors included. What may be kept, such as built files, says so in its route. */
export const SAFE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** For pages that are not the dashboard's: nothing from elsewhere, and no frame around them. */
export const PAGE_HEADERS = {
  'content-security-policy': [
    `default-src 'none'`,
    `script-src 'self'`,
    // The reference sets styles on its elements.
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data:`,
    `font-src 'self' data:`,
    `connect-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}

/** No answer is kept by a browser or proxy, or taken for another type, unless its route says otherwise. */
export const securityHeaders = fp(
  async function securityHeaders(app: FastifyInstance) {
    app.addHook('onRequest', async (_, reply) => {
      reply.headers(SAFE_HEADERS)
    })
  },
  { name: 'security-headers' },
)
