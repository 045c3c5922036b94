import { LRUCache } from 'lru-cache'
import type { Operations } from '../domain/operation.ts'
import { hashOf } from '../domain/secret.ts'
import { expiredCredentials, invalidCredentials, sessionEnded } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Repositories } from '../repositories/index.ts'
import type { KeyRow } from '../repositories/keys.ts'
import type { SessionWithKey } from '../repositories/sessions.ts'
import type { Me, Scope } from '../schemas/caller.ts'

/** Who calls: what they are, what they may do, how far they see. */
export interface Caller {
  type: 'key' | 'session' | 'assistant'
  /** Of the key or session that came with the request. */
  id: string
  /** The key behind it: what the record names as the actor. */
  keyId: string
  name: string
  scopes: Scope[]
  projectId: string | null
  expiresAt: Date | null
  /** Of the key's secret that came with the request, where one did: a key may have two, and one ends before the other. */
  secretHash?: string
  /** When that secret ends, where it does before its key. */
  secretExpiresAt?: Date | null
}

/** A session ends when nothing comes for this long. */
export const SESSION_IDLE_MS = 12 * 3_600_000

/** What was verified is believed for so long when the notice that it ended is lost. */
const CACHE_MS = 3_000

export type AccessService = ReturnType<typeof accessService>

export const accessOperations = {
  describe: { scope: 'any' },
} satisfies Operations<ReturnType<typeof accessService>>

/**
 * Says who calls. Verified keys and sessions are remembered for seconds; `forget` empties that memory at once when
 * any instance ends a key, session or secret.
 */
export function accessService({
  credentials,
  clock,
}: {
  credentials: Repositories['credentials']
  clock: Pick<Clock, 'now'>
}) {
  const keys = cache((hash: string) => credentials.keys.findBySecret(hash))
  const sessions = cache((hash: string) => credentials.sessions.findByHash(hash))
  const secrets = cache((hash: string) => credentials.webhookSecrets.findByHash(hash))
  const listeners = new Set<() => void>()
  const used = {
    keys: new Map<string, Date>(),
    sessions: new Map<string, Date>(),
    secrets: new Map<string, Date>(),
  }

  return {
    /** The caller a key proves. Unknown and revoked keys look the same. */
    async callerByKey(key: string): Promise<Caller> {
      const secretHash = hashOf(key)
      const row = await keys.get(secretHash)
      const now = clock.now()
      if (!row || row.revokedAt || isPast(row.secretExpiresAt, now)) throw invalidCredentials()
      if (isPast(row.expiresAt, now)) throw expiredCredentials()
      used.keys.set(row.id, now)
      return { ...callerOf(row), secretHash, secretExpiresAt: row.secretExpiresAt }
    },

    /** The caller a session's cookie proves. */
    async callerBySession(token: string): Promise<Caller> {
      const row = await sessions.get(hashOf(token))
      const now = clock.now()
      if (!row || !isLive(row, now)) throw sessionEnded()
      if (isPast(row.key.expiresAt, now)) throw expiredCredentials()
      used.keys.set(row.keyId, now)
      used.sessions.set(row.id, now)
      return { ...callerOf(row.key), type: 'session', id: row.id }
    },

    /** Whether this is a live webhook secret. */
    async isWebhookSecret(secret: string): Promise<boolean> {
      const row = await secrets.get(hashOf(secret))
      const now = clock.now()
      if (!row || row.revokedAt || isPast(row.expiresAt, now)) return false
      used.secrets.set(row.id, now)
      return true
    },

    /** For what lasts longer than a request: whether this caller would still be let in. */
    async isStillAdmitted(caller: Caller): Promise<boolean> {
      const now = clock.now()
      if (caller.type === 'session') {
        const session = await credentials.sessions.find(caller.id)
        return session !== undefined && isLive(session, now) && !isPast(session.key.expiresAt, now)
      }
      const { secretHash } = caller
      const key = secretHash === undefined ? undefined : await credentials.keys.findBySecret(secretHash)
      return (
        key !== undefined &&
        !key.revokedAt &&
        ![key.expiresAt, key.secretExpiresAt].some((end) => isPast(end, now))
      )
    },

    /** Believe nothing that was verified before: something ended. */
    forget(): void {
      for (const cache of [keys, sessions, secrets]) cache.forget()
      for (const listener of listeners) listener()
    },

    /** Calls whenever something ended, until the answered function is called. */
    onForget(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },

    /** Writes down when keys, sessions and secrets were last used. What cannot be written is kept for the next time. */
    async flushLastUsed(): Promise<void> {
      await Promise.all([
        flush(used.keys, credentials.keys),
        flush(used.sessions, credentials.sessions),
        flush(used.secrets, credentials.webhookSecrets),
      ])
    },

    describe(caller: Caller): Me {
      const { type, id, name, scopes, projectId, expiresAt } = caller
      return {
        type: type === 'session' ? 'session' : 'key',
        id,
        name,
        scopes,
        projectId,
        expiresAt: expiresAt?.toISOString() ?? null,
      }
    },
  }
}

function callerOf({ id, name, scopes, projectId, expiresAt }: KeyRow): Caller {
  return { type: 'key', id, keyId: id, name, scopes: scopes as Scope[], projectId, expiresAt }
}

const isPast = (time: Date | null, now: Date) => time !== null && time <= now

const isLive = (session: SessionWithKey, now: Date) =>
  !session.key.revokedAt && session.lastSeenAt.getTime() + SESSION_IDLE_MS > now.getTime()

async function flush(
  used: Map<string, Date>,
  credentials: { touch(used: Map<string, Date>): Promise<void> },
) {
  const batch = new Map(used)
  used.clear()
  try {
    await credentials.touch(batch)
  } catch (error) {
    for (const [id, usedAt] of batch) if (!used.has(id)) used.set(id, usedAt)
    throw error
  }
}

/** Remembers what was found, never that nothing was: a key works from the moment it is made. */
function cache<T extends object>(find: (hash: string) => Promise<T | undefined>) {
  const entriesByHash = new LRUCache<string, T>({ max: 10_000, ttl: CACHE_MS })
  let generation = 0
  return {
    async get(hash: string): Promise<T | undefined> {
      const cached = entriesByHash.get(hash)
      if (cached) return cached
      const generationBefore = generation
      const found = await find(hash)
      // Read before a revocation, answered after it: true then, not now.
      if (found && generation === generationBefore) entriesByHash.set(hash, found)
      return found
    },
    forget() {
      generation++
      entriesByHash.clear()
    },
  }
}
