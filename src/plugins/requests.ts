import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Server, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** True from the moment the process was told to end. */
    isDraining(): boolean
    /** Before `close`: takes no new connection, and gives clients the time to hear that they should go. */
    drain(): Promise<void>
  }
}

/** A client that keeps its connection sends within this time, or is taken to be idle. */
const LINGER_MS = 1_000

const QUIET_TURN_MS = 0.5
const MAX_TURNS = 500

/** The id of a request: the caller's own when it is sane, a new one otherwise. */
export function requestId(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomUUID()
}

/** Echoes the request id, logs each answer in one line, and closes connections kindly while draining. */
export const requests = fp(
  async function requests(app: FastifyInstance) {
    let isDraining = false
    const dropIdle = idleConnections(app)
    app.decorate('isDraining', () => isDraining)
    app.decorate('drain', async () => {
      await quietTurn()
      // Not before: who is told to go comes back at once, and would stand in the queue that is dropped here.
      isDraining = true
      // Only stops listening. The close of an HTTP server also cuts who is about to send the next request.
      Server.prototype.close.call(app.server)
      await Promise.race([once(app.server, 'close'), wait(LINGER_MS, undefined, { ref: false })])
    })
    app.addHook('preClose', async () => {
      isDraining = true
      const sweep = setInterval(dropIdle, 100)
      app.server.once('close', () => clearInterval(sweep))
    })
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-request-id', request.id)
      // On the raw answer, so that who hijacks it says so too.
      if (isDraining) reply.raw.setHeader('connection', 'close')
    })
    app.addHook('onSend', async (_, reply) => {
      // A keep-alive client that is told so opens its next connection to an instance that stays.
      if (isDraining) reply.header('connection', 'close')
    })
    app.addHook('onResponse', async (request, reply) => {
      request.log.info(
        {
          method: request.method,
          route: request.routeOptions.url ?? null,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime * 10) / 10,
          caller: request.caller?.id,
        },
        'answered',
      )
    })
  },
  { name: 'requests' },
)

/**
 * Connections that are made and not accepted yet are reset when the server stops listening. A turn of the event loop
 * accepts all there are, so its end is the moment, and the shorter the turn the fewer came meanwhile.
 */
async function quietTurn(): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const since = performance.now()
    await nextTurn()
    if (turn > 0 && performance.now() - since < QUIET_TURN_MS) return
  }
}

/**
 * Closes connections without a request. Node does so for those that had one; a browser's that was opened in advance,
 * or the first half of a header, would hold up the end.
 */
function idleConnections(app: FastifyInstance): () => void {
  const unused = new Set<Socket>()
  app.server.on('connection', (socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  app.server.on('request', ({ socket }) => unused.delete(socket))
  return () => {
    app.server.closeIdleConnections()
    for (const socket of unused) socket.destroy()
  }
}
