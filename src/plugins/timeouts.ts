import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { readingPace } from '../lib/reading-pace.ts'

/** For a whole request, its body included: 32 MiB at 2.5 Mbit/s. */
export const REQUEST_MS = 120_000
/** For its headers, and for the first of them on a new connection. */
export const HEADERS_MS = 20_000
/** A body that brings nothing for so long is refused. */
export const BODY_STALL_MS = 15_000
/** An answer of which nothing is taken for so long is cut, and so is a connection that was never used. */
const SILENCE_MS = 30_000
/** 2 KiB a second over a minute: a bad mobile line takes four times that, and one part of a response may be 256 KiB. */
const PACE = { windowMs: 60_000, minBytes: 120 * 1024 }
/** So often Node looks for requests that are late. */
export const CHECK_MS = 5_000

/**
 * Cuts connections on which nothing moves: answers that nobody takes or that are taken far too slowly, whoever writes
 * them, and connections without a request. One whose request is at work, and that has all it was sent, may be silent for as long as the work lasts.
 */
export const timeouts = fp<{ checkMs?: number; pace?: typeof PACE }>(
  async function timeouts(app: FastifyInstance, { checkMs = CHECK_MS, pace = PACE }) {
    const answering = new Set<ServerResponse>()
    const { isTooSlow } = readingPace(pace)
    const atWork = new WeakMap<Socket, number>()
    const count = (socket: Socket, more: number) => atWork.set(socket, (atWork.get(socket) ?? 0) + more)
    app.server.on('request', (request, response) => {
      const { socket } = request
      count(socket, 1)
      answering.add(response)
      response.once('close', () => {
        answering.delete(response)
        count(socket, -1)
        // Answered before its body was here: the rest is thrown away as it comes, and waited for no longer than this.
        if (!request.complete) socket.setTimeout(SILENCE_MS)
      })
    })
    const sweep = setInterval(() => {
      for (const response of answering) {
        // A stream of events lasts as long as its reader likes, and cuts who falls behind by itself.
        const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream')
        if (response.socket && !isStream && isTooSlow(response.socket)) response.socket.destroy()
      }
    }, checkMs).unref()
    app.addHook('onClose', async () => clearInterval(sweep))
    // Node calls this only where nothing was read and the queue of what is to be written did not move.
    app.server.setTimeout(SILENCE_MS, (socket: Socket) => {
      if (!atWork.get(socket) || socket.writableLength > 0) socket.destroy()
    })
  },
  { name: 'timeouts' },
)
