import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Server, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { severalHosts } from '../errors/index.ts'
import { attached } from '../lib/traced.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the process is shutting down. */
    isDraining(): boolean
    /** Before `close`: accepts no new connections, and gives clients time to receive `Connection: close`. */
    drain(): Promise<void>
  }
}

/** A kept connection without a request for this long counts as idle. */
const LINGER_MS = 1_000

const QUIET_TURN_MS = 0.5
const MAX_TURNS = 500

/** The id of a request: the caller's if it is valid, otherwise a new one. */
export function requestId(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomUUID()
}

/** Returns the request id, logs one line for each request, and closes connections gracefully while draining. */
export const requests = fp(
  async function requests(app: FastifyInstance) {
    let isDraining = false
    const closeIdle = idleConnections(app)
    app.decorate('isDraining', () => isDraining)
    app.decorate('drain', async () => {
      await quietTurn()
      // Not earlier: a client that receives `Connection: close` reconnects at once, into the queue that is dropped here.
      isDraining = true
      // Only stops listening: closing an HTTP server also closes connections on which a request is about to arrive.
      Server.prototype.close.call(app.server)
      await Promise.race([once(app.server, 'close'), wait(LINGER_MS, undefined, { ref: false })])
    })
    app.addHook('preClose', async () => {
      isDraining = true
      const timer = setInterval(closeIdle, 100)
      app.server.once('close', () => clearInterval(timer))
    })
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-request-id', request.id)
      // On the raw response, so that hijacked responses have it, too.
      if (isDraining) reply.raw.setHeader('connection', 'close')
      logAtEnd(request, reply)
      // Proxies differ in which of several they use.
      if (hostsIn(request.raw.rawHeaders) > 1) throw severalHosts()
    })
    app.addHook('onSend', async (_, reply) => {
      // The client opens its next connection to another instance.
      if (isDraining) reply.header('connection', 'close')
    })
  },
  { name: 'requests' },
)

/** Names and values alternate. */
const hostsIn = (rawHeaders: string[]) =>
  rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length

/** Logs one line at the end of a request. Call it when the request arrives. */
export function logAtEnd(request: FastifyRequest, reply: FastifyReply): void {
  // A closed socket has none.
  const { ip } = request
  // Fastify's `onResponse` does not run for clients that disconnect.
  reply.raw.once(
    'close',
    attached(() => logEnd(request, { reply, ip })),
  )
}

function logEnd(request: FastifyRequest, { reply, ip }: { reply: FastifyReply; ip: string }): void {
  const { writableFinished: isComplete, headersSent: hasStatus } = reply.raw
  const status = hasStatus ? reply.raw.statusCode : null
  request.log.info(
    {
      method: request.method,
      route: request.routeOptions.url ?? null,
      // Together: docs/operating.md has a filter of fail2ban for them.
      status,
      ...(status !== null && status >= 400 && { ...reply.problem, address: ip }),
      ms: Math.round(reply.elapsedTime * 10) / 10,
      caller: request.caller?.id,
    },
    isComplete ? 'request completed' : 'client disconnected',
  )
}

/**
 * Waits for the end of a short turn of the event loop. Connections that are not accepted yet are reset when the server
 * stops listening; a turn accepts all of them, and the shorter it is, the fewer arrive meanwhile.
 */
async function quietTurn(): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const since = performance.now()
    await nextTurn()
    if (turn > 0 && performance.now() - since < QUIET_TURN_MS) return
  }
}

/**
 * Returns a function that closes connections without a request. Node closes only those that had one; a browser's
 * preconnection, or one with incomplete headers, would delay the shutdown.
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
