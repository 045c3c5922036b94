import type { FastifyReply, FastifyRequest } from 'fastify'
import { rateLimited } from '../errors/index.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It takes many messages in one array: each of them counts as a request. */
    takesBatches?: boolean
  }
}

const WINDOW_MS = 60_000

/** What is left of a limit after this request. */
export interface Allowance {
  limit: number
  remaining: number
  resetSeconds: number
  isExceeded: boolean
}

/** Counts by name in windows of a minute that begin for all at once, so the memory is that of one minute. */
export function minuteLimit(limit: number, now: () => number = Date.now) {
  let counts = new Map<string, number>()
  let endsAt = 0
  return {
    /** What the next request would hear; counts nothing. */
    peek(name: string): Allowance | undefined {
      if (limit === 0) return undefined
      const time = now()
      return allowanceOf((time < endsAt ? (counts.get(name) ?? 0) : 0) + 1, time)
    },

    /** Counts so many more for this name; a limit of 0 is off. */
    take(name: string, cost = 1): Allowance | undefined {
      if (limit === 0) return undefined
      const time = now()
      if (time >= endsAt) {
        counts = new Map()
        endsAt = time + WINDOW_MS
      }
      const count = (counts.get(name) ?? 0) + cost
      counts.set(name, count)
      return allowanceOf(count, time)
    },
  }

  function allowanceOf(count: number, time: number): Allowance {
    return {
      limit,
      remaining: Math.max(0, limit - count),
      resetSeconds: Math.ceil((endsAt - time) / 1000),
      isExceeded: count > limit,
    }
  }
}

type MinuteLimit = ReturnType<typeof minuteLimit>

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
