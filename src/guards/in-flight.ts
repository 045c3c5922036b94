import type { FastifyReply, FastifyRequest } from 'fastify'
import { connectionClosed, tooManyInFlight } from '../errors/index.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Does a part of the request that counts as a request of its own, as the calls of a batch do.
     * @throws rate_limited
     */
    inFlight: <T>(work: () => Promise<T>) => Promise<T>
  }
  interface FastifyContextConfig {
    /** Whether a request waits for events, as streams and long polls do: it has a limit of its own. */
    isLong?: (request: FastifyRequest) => boolean
  }
}

interface InFlightLimits {
  maxPerKey: number
  maxTotal: number
  /** Streams and long polls. */
  maxLongPerKey: number
}

/**
 * preHandler, after authentication: limits requests in flight. A request counts until its response or connection is
 * closed and its work has ended, so a client that disconnects early cannot start more work than others.
 */
export function limitInFlight({ maxPerKey, maxTotal, maxLongPerKey }: InFlightLimits) {
  const requests = counts()
  const long = counts()

  function refuseBeyond({ caller: { principal } }: FastifyRequest, isLong: boolean) {
    const [mine, limit] = isLong ? [long, maxLongPerKey] : [requests, maxPerKey]
    if (mine.of(principal.id) >= limit) throw tooManyInFlight(limit, isLong)
    if (!isLong && requests.total() >= maxTotal) throw tooManyInFlight(maxTotal)
    return mine
  }

  async function limitInFlight(request: FastifyRequest, reply: FastifyReply) {
    // The client has disconnected: no close event would release the slot.
    if (reply.raw.destroyed) throw connectionClosed()
    const { id } = request.caller.principal
    const mine = refuseBeyond(request, request.routeOptions.config.isLong?.(request) ?? false)
    mine.add(id, 1)
    const release = () => mine.add(id, -1)
    if (request.resources) request.resources.onEnd(release)
    else reply.raw.once('close', release)
    request.inFlight = async (work) => {
      refuseBeyond(request, false)
      requests.add(id, 1)
      try {
        return await work()
      } finally {
        requests.add(id, -1)
      }
    }
  }
  /** The same check without counting, for `checkEarly`. Whether a request is long can depend on its body. */
  async function peek(request: FastifyRequest) {
    if (!request.routeOptions.config.isLong) refuseBeyond(request, false)
  }
  return Object.assign(limitInFlight, { peek })
}

function counts() {
  const byName = new Map<string, number>()
  let total = 0
  return {
    total: () => total,
    of: (name: string) => byName.get(name) ?? 0,
    add(name: string, more: number) {
      total += more
      const count = (byName.get(name) ?? 0) + more
      if (count > 0) byName.set(name, count)
      else byName.delete(name)
    },
  }
}
