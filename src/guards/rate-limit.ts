import type { FastifyReply, FastifyRequest } from 'fastify'
import { rateLimited } from '../errors/index.ts'
import { type MinuteLimit, WINDOW_MS } from '../lib/minute-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It takes many messages in one array: each of them counts as a request. */
    takesBatches?: boolean
  }
}

/** preHandler, after the caller is known: so many requests a minute each. Headers as draft-ietf-httpapi-ratelimit-headers has them. */
export function limitRequests(
  policy: string,
  limit: MinuteLimit,
  nameOf: (request: FastifyRequest) => string,
) {
  async function limitRequests(request: FastifyRequest, reply: FastifyReply) {
    const allowance = limit.take(nameOf(request), messagesIn(request))
    if (!allowance) return
    reply.header('ratelimit-policy', `"${policy}";q=${allowance.limit};w=${WINDOW_MS / 1000}`)
    reply.header('ratelimit', `"${policy}";r=${allowance.remaining};t=${allowance.resetSeconds}`)
    if (allowance.isExceeded) throw rateLimited(allowance.resetSeconds)
  }
  /** The same without counting, for `lookEarly`. */
  async function peek(request: FastifyRequest) {
    const allowance = limit.peek(nameOf(request))
    if (allowance?.isExceeded) throw rateLimited(allowance.resetSeconds)
  }
  return Object.assign(limitRequests, { peek })
}

function messagesIn({ body, routeOptions }: FastifyRequest): number {
  return routeOptions.config.takesBatches && Array.isArray(body) ? Math.max(1, body.length) : 1
}
