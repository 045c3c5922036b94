import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { hashOf } from '../domain/secret.ts'
import { unavailable } from '../errors/index.ts'
import type { AccessService, Caller } from '../services/access.ts'

interface MetricsReaderDeps {
  access: Pick<AccessService, 'onForget'>
  requireCaller(request: FastifyRequest): Promise<void>
  isDatabaseAway(error: unknown): boolean
  /** For how long the database may think about a key. */
  deadlineMs?: number
}

/**
 * preHandler: lets in whom `requireCaller` does. A key that was let in here before is let in as well while the
 * database is away: then above all somebody wants to look. Nothing can be revoked meanwhile, and a notice that
 * something ended forgets them all.
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
    const key = request.headers['x-api-key']
    const caller = typeof key === 'string' ? hashOf(key) : ''
    try {
      await inTime(requireCaller(request))
      if (caller) known.set(caller, request.caller)
    } catch (error) {
      // It was there to ask, and did not let in: whatever notice of that may have been lost.
      if (!isDatabaseAway(error)) known.delete(caller)
      const before = known.get(caller)
      if (!before || isOver(before)) throw error
      request.caller = before
    }
  }

  async function inTime(work: Promise<void>): Promise<void> {
    const tooLate = Promise.withResolvers<never>()
    const timer = setTimeout(() => tooLate.reject(unavailable(SILENCE)), deadlineMs)
    await Promise.race([work, tooLate.promise]).finally(() => clearTimeout(timer))
  }
}

/** A secret that was rotated ends before its key. */
const isOver = ({ expiresAt, secretExpiresAt }: Caller) =>
  [expiresAt, secretExpiresAt].some((end) => end && end <= new Date())

/** As the driver would put it. */
const SILENCE = Object.assign(new Error('the database was silent'), { code: 'ETIMEDOUT' })
