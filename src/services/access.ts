import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { maySignIn } from '../domain/key-strength.ts'
import type { Operations } from '../domain/operation.ts'
import { commonScopes, scopesOf } from '../domain/people.ts'
import { hashOf } from '../domain/secret.ts'
import { expiredCredentials, invalidCredentials, sessionEnded } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import { ownedBy } from '../lib/work-owner.ts'
import { onlyProjectOf, type Repositories } from '../repositories/index.ts'
import type { KeyBySecret, KeyRow } from '../repositories/keys.ts'
import type { UserRow } from '../repositories/people/users.ts'
import type { SessionWithHolder } from '../repositories/sessions.ts'
import type { Me, Scope } from '../schemas/caller.ts'
import type { SwitchedWays } from '../schemas/session.ts'
import type { TaskSource } from '../schemas/task.ts'
import { toUser } from './user-view.ts'

/** What callers can send a request through. */
type Channel = Extract<TaskSource, 'api' | 'dashboard' | 'assistant'>

/** Who acts in a request, also in one of a session: sessions are short-lived. */
export interface Principal {
  type: 'key' | 'user'
  id: string
}

/** The authenticated caller with its scopes and its reach. */
export interface Caller {
  /** What the request came through: the source of the tasks that it creates. */
  channel: Channel
  /** The id of the key or session in the request. */
  id: string
  /** Who acts: also the owner of saved filters, idempotency keys, and limits. */
  principal: Principal
  name: string
  scopes: Scope[]
  /** The projects in reach; null for all. */
  projectIds: readonly string[] | null
  /** When the key expires, or the secret that the request or its session was authenticated with; null for people. */
  expiresAt: Date | null
  /** The person, if one acts. */
  user?: UserRow
  /** Whether the person signed in less than ten minutes ago. */
  isRecentSignIn?: boolean
  /** Whether that secret was replaced by a newer one, and is valid for its overlap. */
  isReplaced?: boolean
  /** The hash of the key's secret in the request; a session has none. */
  secretHash?: string
}

/** A caller who sent a key. */
export type KeyCaller = Caller & { secretHash: string }

/** What has become of a caller's rights: the same, other ones, or none. */
export type Admission = 'same' | 'changed' | 'ended'

/** A session of a key ends after this long without a request. */
export const SESSION_IDLE_MS = 12 * 3_600_000

/** How long credentials stay cached if the notice of a revocation is lost. */
const CACHE_MS = 3_000

export type AccessService = ReturnType<typeof accessService>

export const accessOperations = {
  describe: { scope: 'any' },
} satisfies Operations<ReturnType<typeof accessService>>

/**
 * Authenticates callers. Verified credentials are cached for seconds; `forget` empties the cache at once when any
 * instance revokes a key, session or secret.
 */
export function accessService({
  credentials,
  clock,
  ways,
}: {
  credentials: Repositories['credentials']
  clock: Pick<Clock, 'now'>
  ways: Pick<SwitchedWays, 'keys'>
}) {
  const keys = cache((hash: string) => credentials.keys.findBySecret(hash))
  const sessions = cache((hash: string) => credentials.sessions.findByHash(hash))
  const secrets = cache((hash: string) => credentials.webhookSecrets.findByHash(hash))
  const listeners = new Set<() => void>()
  const used = {
    keys: new Map<string, Date>(),
    sessions: new Map<string, Date>(),
    users: new Map<string, Date>(),
    secrets: new Map<string, Date>(),
  }

  return {
    /**
     * Authenticates a key. Unknown and revoked keys return the same error.
     * @throws invalid_credentials, expired_credentials
     */
    async callerByKey(key: string): Promise<KeyCaller> {
      const secretHash = hashOf(key)
      const row = await keys.get(secretHash)
      const now = clock.now()
      const caller = row && callerBySecret(row, now)
      if (!caller) throw invalidCredentials()
      if (isPast(row.expiresAt, now)) throw expiredCredentials()
      used.keys.set(row.id, now)
      if (row.user) used.users.set(row.user.id, now)
      return { ...caller, secretHash }
    },

    /**
     * Authenticates the cookie of a session.
     * @throws invalid_credentials, expired_credentials
     */
    async callerBySession(token: string): Promise<Caller> {
      const row = await sessions.get(hashOf(token))
      const now = clock.now()
      if (!row || !isLive(row, { now, ways })) throw sessionEnded()
      const { id, key, secretExpiresAt, user, isRecent } = row
      if (isPast(key?.expiresAt ?? null, now)) throw expiredCredentials()
      used.sessions.set(id, now)
      if (key) used.keys.set(key.id, now)
      if (user) used.users.set(user.id, now)
      const caller = user ? callerOfUser(user) : callerOf({ ...(key as KeyRow), secretExpiresAt })
      return { ...caller, channel: 'dashboard', id, ...(user && { isRecentSignIn: isRecent }) }
    },

    /** The caller that a person is who has just proved who it is, before there is a session. */
    callerByUser: (user: UserRow): Caller => ({ ...callerOfUser(user), channel: 'dashboard', id: user.id }),

    /** Whether this is a valid webhook secret. */
    async isWebhookSecret(secret: string): Promise<boolean> {
      const row = await secrets.get(hashOf(secret))
      const now = clock.now()
      if (!row || row.revokedAt || isPast(row.expiresAt, now)) return false
      used.secrets.set(row.id, now)
      return true
    },

    /** For streams, which outlive their request: whether the caller is still authenticated, with the same rights. */
    async admissionOf(caller: Caller): Promise<Admission> {
      const now = clock.now()
      if (caller.channel === 'dashboard') {
        const session = await credentials.sessions.find(caller.id)
        if (!session || !isLive(session, { now, ways })) return 'ended'
        const { key, user } = session
        if (user) return hasRights(callerOfUser(user), caller) ? 'same' : 'changed'
        return isPast(key?.expiresAt ?? null, now) ? 'ended' : 'same'
      }
      const { secretHash } = caller
      const row = secretHash === undefined ? undefined : await credentials.keys.findBySecret(secretHash)
      const current = row && callerBySecret(row, now)
      if (!current || isPast(current.expiresAt, now)) return 'ended'
      return hasRights(current, caller) ? 'same' : 'changed'
    },

    /** Empties the cache, after a revocation. */
    forget(): void {
      for (const cache of [keys, sessions, secrets]) cache.forget()
      for (const listener of listeners) listener()
    },

    /** Reads people of this instance again, after a change that takes nothing from anybody. */
    refresh(): void {
      sessions.forget()
      keys.forget()
    },

    /** Adds a listener for revocations; returns the function that removes it. */
    onForget(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },

    /** Stores when keys, sessions and secrets were last used. Times that cannot be stored are kept for the next call. */
    async flushLastUsed(): Promise<void> {
      const now = clock.now()
      await flush(used.keys, credentials.keys)
      // Of people, only how long ago it was: the database knows what time it is.
      await flush(used.sessions, { touch: (batch) => credentials.sessions.touch(batch, now) })
      await flush(used.users, credentials.users)
      await flush(used.secrets, credentials.webhookSecrets)
    },

    describe(caller: Caller): Me {
      const { channel, id, principal, user, name, scopes, projectIds, expiresAt } = caller
      return {
        type: channel === 'dashboard' ? 'session' : 'key',
        id,
        keyId: user ? null : principal.id,
        user: user ? toUser(user) : null,
        name,
        scopes,
        projectId: onlyProjectOf(caller),
        projectIds: projectIds === null ? null : [...projectIds],
        expiresAt: expiresAt?.toISOString() ?? null,
      }
    },
  }
}

/** The caller who sent the secret of a key; undefined if neither is valid, whatever their expiry. */
function callerBySecret({ user, ...key }: KeyBySecret, now: Date): Caller | undefined {
  if (key.revokedAt || isPast(key.secretExpiresAt, now) || user?.isActive === false) return undefined
  const caller = user ? callerOfPersonal(key, user) : callerOf(key)
  return caller.projectIds?.length === 0 ? undefined : caller
}

/** A person who sent a personal key, which allows no more than both. */
function callerOfPersonal(key: KeyOfSecret, user: UserRow): Caller {
  const [ofKey, ofUser] = [callerOf(key), callerOfUser(user)]
  return {
    ...ofKey,
    ...ofUser,
    scopes: commonScopes(ofKey.scopes, ofUser.scopes),
    projectIds: commonProjects(ofKey.projectIds, ofUser.projectIds),
    expiresAt: ofKey.expiresAt,
  }
}

const commonProjects = (some: Caller['projectIds'], others: Caller['projectIds']): Caller['projectIds'] =>
  some && others ? some.filter((id) => others.includes(id)) : (some ?? others)

type KeyOfSecret = Omit<KeyBySecret, 'user'>

function callerOf({ id, name, scopes, projectId, expiresAt, secretExpiresAt }: KeyOfSecret): Caller {
  return {
    channel: 'api',
    id,
    principal: { type: 'key', id },
    name,
    scopes: scopes as Scope[],
    projectIds: projectIdsOf(projectId),
    expiresAt: earliest(expiresAt, secretExpiresAt),
    // Only rotation sets the expiry of a secret.
    isReplaced: secretExpiresAt !== null,
  }
}

/** The reach of a key. */
export const projectIdsOf = (projectId: string | null): string[] | null =>
  projectId === null ? null : [projectId]

const callerOfUser = (user: UserRow): Omit<Caller, 'channel' | 'id'> => ({
  principal: { type: 'user', id: user.id },
  user,
  name: user.name,
  scopes: scopesOf(user.role),
  projectIds: user.projectIds,
  expiresAt: null,
})

type Rights = Pick<Caller, 'scopes' | 'projectIds' | 'user'>

/** Whether somebody may still do the same: a stream ends with another role or reach. */
const hasRights = (current: Rights, before: Rights): boolean =>
  isDeepStrictEqual(rightsOf(current), rightsOf(before))

const rightsOf = ({ scopes, projectIds, user }: Rights) => [scopes, projectIds, user?.role, user?.projectIds]

/** The first of these times; null stands for never. */
export const earliest = (...ends: (Date | null)[]): Date | null =>
  ends.reduce((first, end) => (first === null || (end !== null && end < first) ? end : first), null)

const isPast = (time: Date | null, now: Date) => time !== null && time <= now

/** A session of a key ends with the secret that it was opened with, and while such keys cannot sign in. */
function isLive(session: SessionWithHolder, { now, ways }: Liveness): boolean {
  const { key, user, lastSeenAt, secretExpiresAt } = session
  if (user) return user.isActive && session.isWithinLimits
  const isIdle = lastSeenAt.getTime() + SESSION_IDLE_MS <= now.getTime()
  const isAllowed = maySignIn((key?.scopes ?? []) as Scope[], ways.keys)
  return isAllowed && !key?.revokedAt && !isPast(secretExpiresAt, now) && !isIdle
}

interface Liveness {
  now: Date
  ways: Pick<SwitchedWays, 'keys'>
}

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

/** Nobody is known yet, and many of them may be wrong. */
const LOOK_UPS = { kind: 'look-ups', name: 'credentials' } as const

/** Caches what was found, never that nothing was found: a new key is valid at once. */
function cache<T extends object>(find: (hash: string) => Promise<T | undefined>) {
  // As sizes: with `max`, the cache would allocate all of its entries at once.
  const entriesByHash = new LRUCache<string, T>({ maxSize: 10_000, sizeCalculation: () => 1, ttl: CACHE_MS })
  let generation = 0
  return {
    async get(hash: string): Promise<T | undefined> {
      const cached = entriesByHash.get(hash)
      if (cached) return cached
      const generationBefore = generation
      const found = await ownedBy(LOOK_UPS, () => find(hash))
      // Read before a revocation and returned after it: valid for this request, but not cached.
      if (found && generation === generationBefore) entriesByHash.set(hash, found)
      return found
    },
    forget() {
      generation++
      entriesByHash.clear()
    },
  }
}
