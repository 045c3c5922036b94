import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { readingPace } from '../lib/reading-pace.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Allows the body to take longer than other requests. Whoever reads it limits how long it may stall. */
    liftDeadline(): void
  }
}

/** Deadline for a whole request with its body: 4 MiB at 300 kbit/s take 112 s. */
const REQUEST_MS = 120_000
/** Deadline for the headers of a request, also of the first on a new connection. */
export const HEADERS_MS = 20_000
/** A body of which nothing arrives for this long is rejected. */
export const BODY_STALL_MS = 15_000
/** A response of which nothing is read for this long is cut, and so is a connection without a request. */
const SILENCE_MS = 30_000
/** 2 KiB/s over a minute. A bad mobile connection is four times as fast, and a part of a response can be 256 KiB. */
const PACE = { windowMs: 60_000, minBytes: 120 * 1024 }
/** The interval in which Node checks for requests past their deadline. */
export const CHECK_MS = 5_000

/**
 * Closes stalled connections: requests that don't arrive in time, responses that are not read or read too slowly, and
 * connections without a request. A connection with a request in progress and nothing left to send may be idle until the
 * work is done.
 */
export const timeouts = fp<{ checkMs?: number; pace?: typeof PACE; requestMs?: number }>(
  async function timeouts(app: FastifyInstance, { checkMs = CHECK_MS, pace = PACE, requestMs = REQUEST_MS }) {
    const openResponses = new Set<ServerResponse>()
    // Node's own deadline has no exceptions.
    const arriving = new Map<IncomingMessage, number>()
    app.decorateRequest('liftDeadline', function () {
      arriving.delete(this.raw)
    })
    const { isTooSlow } = readingPace(pace)
    const inProgress = new WeakMap<Socket, number>()
    const count = (socket: Socket, more: number) =>
      inProgress.set(socket, (inProgress.get(socket) ?? 0) + more)
    app.server.on('request', (request, response) => {
      const { socket } = request
      count(socket, 1)
      openResponses.add(response)
      arriving.set(request, performance.now() + requestMs)
      response.once('close', () => {
        openResponses.delete(response)
        count(socket, -1)
        if (request.complete) return void arriving.delete(request)
        // The response was sent before the whole body arrived: the rest is discarded, and may stall no longer than this.
        socket.setTimeout(SILENCE_MS)
        if (!arriving.has(request)) arriving.set(request, performance.now() + requestMs)
      })
    })
    const timer = setInterval(() => {
      for (const [request, deadline] of arriving) {
        if (request.complete || request.socket.destroyed) arriving.delete(request)
        else if (performance.now() > deadline) refuseLate(request)
      }
      for (const response of openResponses) {
        // Event streams have no end, and disconnect slow readers themselves.
        const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream')
        if (response.socket && !isStream && isTooSlow(response.socket)) response.socket.destroy()
      }
    }, checkMs).unref()
    app.addHook('onClose', async () => clearInterval(timer))
    function refuseLate(request: IncomingMessage) {
      arriving.delete(request)
      // As Node does for headers that are late.
      const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      app.server.emit('clientError', error, request.socket)
    }
    // Node calls this only if nothing was read from the socket and nothing of its write queue was sent.
    app.server.setTimeout(SILENCE_MS, (socket: Socket) => {
      if (!inProgress.get(socket) || socket.writableLength > 0) socket.destroy()
    })
  },
  { name: 'timeouts' },
)
