import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { tooManyResponses } from '../errors/index.ts'
import type { ResponseBudget } from '../lib/response-budget.ts'
import { holderOf } from './json-body.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** How much memory a streamed response needs until all of it is read. */
    memoryBytes: number
    /** Whether nothing was written, so that a response for which there is no room can be refused; default: for a GET. */
    isRefusable: boolean | null
  }
}

/** Smaller ones are bounded by the number of requests in flight. */
const LARGE_BYTES = 256 * 1024

/**
 * Limits the memory of responses until their clients have read them. A read for which there is no room is 503; a write
 * always gets its response, because a 503 would say that nothing was written. Streams that read as they send count with
 * what they buffer.
 */
export const largeResponses = fp<{ responseBudget: ResponseBudget }>(
  async function largeResponses(app: FastifyInstance, { responseBudget }) {
    app.decorateReply('memoryBytes', 0)
    app.decorateReply('isRefusable', null)
    // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
    app.addHook('onSend', async (request, reply, payload: unknown) => {
      const mayExceed = !(reply.isRefusable ?? request.method === 'GET')
      const options = { holder: holderOf(request), mayExceed }
      if (payload instanceof Readable) {
        if (reply.memoryBytes < LARGE_BYTES) return
        const stream = responseBudget.sendPieces(payload, { ...options, bytes: reply.memoryBytes })
        if (!stream) payload.destroy()
        return stream ?? refuse(reply)
      }
      const isText = typeof payload === 'string'
      if (!isText && !Buffer.isBuffer(payload)) return
      if (payload.length < LARGE_BYTES) return
      const body = isText ? Buffer.from(payload) : payload
      const stream = responseBudget.send(body, options) ?? refuse(reply)
      reply.header('content-length', body.length)
      return stream
    })
  },
  { name: 'large-responses' },
)

function refuse(reply: FastifyReply): never {
  reply.removeHeader('etag')
  throw tooManyResponses()
}
