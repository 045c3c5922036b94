import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

const HEADER = 'mcp-session-id'
/** The characters that the protocol allows in a session id, limited in length for the log. */
const VALID_ID = /^[\x21-\x7e]{1,128}$/

/**
 * Clients of the legacy protocol receive a session id on initialize and send it with every request. Nothing is stored
 * for it, so any instance accepts it and no session expires; it only correlates the log lines of one assistant.
 */
export function assignSessionIds(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    const id = request.headers[HEADER]
    if (typeof id === 'string' && VALID_ID.test(id)) request.log = request.log.child({ conversation: id })
  })
  app.addHook('onSend', async (request, reply) => {
    if (isInitialize(request.body) && reply.statusCode === 200) reply.header(HEADER, randomUUID())
  })
}

const isInitialize = (body: unknown) => (body as { method?: unknown })?.method === 'initialize'
