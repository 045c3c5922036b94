import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'

/**
 * A client without a valid key looks for OAuth, and if it finds none, registers here (RFC 7591). It shows
 * `error_description` to its user.
 */
export const registrationRoutes: FastifyPluginAsync = async (app) => {
  // Before the body is read.
  app.post('', { onRequest: refuse, schema: { hide: true } }, refuse)
}

async function refuse(_request: FastifyRequest, reply: FastifyReply) {
  return reply.status(400).send({
    error: 'invalid_request',
    error_description:
      'Clients cannot register with Inlet. Send a valid API key in the X-API-Key header instead.',
  })
}
