import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import negotiate from '@fastify/accept-negotiator'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Less fits into two packets: compressing it saves no time. */
const MIN_BYTES = 2 * 1024

const compressed = promisify(gzip)

/**
 * Compresses JSON that is read, for clients that accept gzip. Streams are sent as they are: what is large is read at the
 * client's pace. Responses to writes, too: they may hold a secret beside what the caller sent.
 */
export const compression = fp(
  async function compression(app: FastifyInstance) {
    // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
    app.addHook('onSend', async (request, reply, payload: unknown) => {
      if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return
      if (payload.length < MIN_BYTES) return
      if (request.method !== 'GET' || !isJson(reply.getHeader('content-type'))) return
      reply.header('vary', 'accept-encoding')
      if (negotiate(request.headers['accept-encoding'] ?? 'identity', ['gzip']) !== 'gzip') return
      const body = await compressed(payload)
      reply.headers({ 'content-encoding': 'gzip', 'content-length': body.length })
      return body
    })
  },
  { name: 'compression', dependencies: ['large-responses'] },
)

const isJson = (contentType: unknown) => /^application\/(problem\+)?json/.test(String(contentType))
