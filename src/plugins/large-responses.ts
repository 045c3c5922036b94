import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { tooManyResponses } from '../errors/index.ts'
import type { ResponseBudget } from '../lib/response-budget.ts'
import { ADMITTED_BYTES } from './json-body.ts'

/** Smaller ones are bounded by the number of requests in flight. */
const LARGE_BYTES = 256 * 1024

/**
 * Bounds what responses hold in memory until their readers took them. A read that finds no room is 503; what was written
 * is always answered, because a refusal would say that it was not. Other streams bound themselves.
 */
export const largeResponses = fp<{ responseBudget: ResponseBudget }>(
  async function largeResponses(app: FastifyInstance, { responseBudget }) {
    app.addHook('onSend', async (request, reply, payload: unknown) => {
      // It is made of a batch, which is held until all of it is sent.
      if (payload instanceof Readable && request.bodyBytes > ADMITTED_BYTES) {
        return responseBudget.sendPieces(payload, request.bodyBytes)
      }
      const isText = typeof payload === 'string'
      if (!isText && !Buffer.isBuffer(payload)) return
      if (payload.length < LARGE_BYTES) return
      const body = isText ? Buffer.from(payload) : payload
      const stream = responseBudget.send(body, { mayExceed: request.method !== 'GET' })
      if (!stream) {
        reply.removeHeader('etag')
        throw tooManyResponses()
      }
      reply.header('content-length', body.length)
      return stream
    })
  },
  { name: 'large-responses' },
)
