import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

const HEADER = 'mcp-session-id'
/** What the protocol lets an id be, at a length that a line of the log can bear. */
const SANE = /^[\x21-\x7e]{1,128}$/

/**
 * Clients of the older protocol era are given an id when they introduce themselves and send it with all that follows.
 * Nothing is kept under it, so any instance answers them, and none is ever told that its session is gone; it ties
 * what one assistant asked together in the log.
 */
export function nameConversations(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    const id = request.headers[HEADER]
    if (typeof id === 'string' && SANE.test(id)) request.log = request.log.child({ conversation: id })
  })
  app.addHook('onSend', async (request, reply) => {
    if (isInitialize(request.body) && reply.statusCode === 200) reply.header(HEADER, randomUUID())
  })
}

const isInitialize = (body: unknown) => (body as { method?: unknown })?.method === 'initialize'
