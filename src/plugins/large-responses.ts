import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { tooManyResponses } from '../errors/index.ts'
import type { ResponseBudget } from '../lib/response-budget.ts'
import { ADMITTED_BYTES, holderOf } from './json-body.ts'

/** Smaller ones are bounded by the number of requests in flight. */
const LARGE_BYTES = 256 * 1024

/**
 * Limits the memory of responses until their clients have read them. A GET for which there is no room is 503; a write is
 * always answered, because a 503 would say that nothing was written. Streams that read as they send bound themselves.
 */
export const largeResponses = fp<{ responseBudget: ResponseBudget }>(
  async function largeResponses(app: FastifyInstance, { responseBudget }) {
    // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
    app.addHook('onSend', async (request, reply, payload: unknown) => {
      const holder = holderOf(request)
      // It is made from a large batch, which stays in memory until all of it is sent.
      if (payload instanceof Readable && request.bodyBytes > ADMITTED_BYTES) {
        return responseBudget.sendPieces(payload, { bytes: request.bodyBytes, holder })
      }
      const isText = typeof payload === 'string'
      if (!isText && !Buffer.isBuffer(payload)) return
      if (payload.length < LARGE_BYTES) return
      const body = isText ? Buffer.from(payload) : payload
      const stream = responseBudget.send(body, { holder, mayExceed: request.method !== 'GET' })
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
