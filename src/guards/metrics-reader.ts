import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { hashOf } from '../domain/secret.ts'
import { unavailable } from '../errors/index.ts'
import type { AccessService, Caller } from '../services/access.ts'
import { apiKeyIn } from './caller.ts'

interface MetricsReaderDeps {
  access: Pick<AccessService, 'onForget'>
  requireCaller(request: FastifyRequest): Promise<void>
  isDatabaseAway(error: unknown): boolean
  /** The deadline for the database to check a key. */
  deadlineMs?: number
}

/**
 * preHandler: `requireCaller`, which also accepts keys it accepted before while the database is unavailable, when
 * metrics matter most. Nothing can be revoked during that time, and any notice of a revocation clears the cache.
 */
export function requireMetricsReader({
  access,
  requireCaller,
  isDatabaseAway,
  deadlineMs = 2_000,
}: MetricsReaderDeps) {
  const known = new LRUCache<string, Caller>({ max: 100 })
  access.onForget(() => known.clear())

  return async function requireMetricsReader(request: FastifyRequest) {
    const key = apiKeyIn(request.headers, { hasSession: false })
    const caller = key === undefined ? '' : hashOf(key)
    try {
      await beforeDeadline(requireCaller(request))
      if (caller) known.set(caller, request.caller)
    } catch (error) {
      // The database has rejected the key, even if the notice of its end was lost.
      if (!isDatabaseAway(error)) known.delete(caller)
      const before = known.get(caller)
      if (!before || isExpired(before)) throw error
      request.caller = before
    }
  }

  async function beforeDeadline(work: Promise<void>): Promise<void> {
    const deadline = Promise.withResolvers<never>()
    const timer = setTimeout(() => deadline.reject(unavailable(TIMED_OUT)), deadlineMs)
    await Promise.race([work, deadline.promise]).finally(() => clearTimeout(timer))
  }
}

const isExpired = ({ expiresAt }: Caller) => expiresAt !== null && expiresAt <= new Date()

/** The same error as from the driver. */
const TIMED_OUT = Object.assign(new Error('the database did not respond'), { code: 'ETIMEDOUT' })
