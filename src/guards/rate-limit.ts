import type { FastifyReply, FastifyRequest } from 'fastify'
import { rateLimited } from '../errors/index.ts'
import { type MinuteLimit, WINDOW_MS } from '../lib/minute-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body can be an array of messages, each of which counts as a request. */
    takesBatches?: boolean
  }
}

interface RequestLimit {
  /** The name of the policy in the headers. */
  policy: string
  limit: MinuteLimit
  /** Requests with the same name count together. */
  nameOf(request: FastifyRequest): string
}

/** preHandler, after authentication: limits requests per minute. Headers as in draft-ietf-httpapi-ratelimit-headers. */
export function limitRequests({ policy, limit, nameOf }: RequestLimit) {
  async function limitRequests(request: FastifyRequest, reply: FastifyReply) {
    const allowance = limit.take(nameOf(request), messagesIn(request))
    if (!allowance) return
    reply.header('ratelimit-policy', `"${policy}";q=${allowance.limit};w=${WINDOW_MS / 1000}`)
    reply.header('ratelimit', `"${policy}";r=${allowance.remaining};t=${allowance.resetSeconds}`)
    if (allowance.isExceeded) throw rateLimited(allowance.resetSeconds)
  }
  /** The same check without counting, for `checkEarly`. */
  async function peek(request: FastifyRequest) {
    const allowance = limit.peek(nameOf(request))
    if (allowance?.isExceeded) throw rateLimited(allowance.resetSeconds)
  }
  return Object.assign(limitRequests, { peek })
}

function messagesIn({ body, routeOptions }: FastifyRequest): number {
  return routeOptions.config.takesBatches && Array.isArray(body) ? Math.max(1, body.length) : 1
}
