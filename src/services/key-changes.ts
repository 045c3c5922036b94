import { orderById } from '../domain/cursor.ts'
import { keySecret } from '../domain/secret.ts'
import { validationFailed } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { BoundRepositories } from '../repositories/index.ts'
import type { KeyRow, KeySecretRow } from '../repositories/keys.ts'
import type { Scope } from '../schemas/caller.ts'
import type { ApiKey, ApiKeyWithSecret } from '../schemas/key.ts'
import type { Caller } from './access.ts'
import { actorOf, changeLog } from './activity/row.ts'
import { readPage } from './page.ts'

export type NewKey = Pick<KeyRow, 'name' | 'userId' | 'scopes' | 'projectId' | 'expiresAt'>

interface KeyChange {
  caller: Caller
  key: KeyRow
}

/** What is done with keys of other systems and of people alike: each with its activity, in a transaction. */
export function keyChanges({ clock, randomBytes }: { clock: Clock; randomBytes(size: number): Buffer }) {
  const log = changeLog(clock)

  return {
    /** Its secret is only returned once. */
    async create(
      repos: BoundRepositories,
      { caller, key }: { caller: Caller; key: NewKey },
    ): Promise<ApiKeyWithSecret> {
      const now = clock.now()
      const secret = keySecret(randomBytes)
      const { type: createdByType, id: createdById, name: createdByName } = actorOf(caller)
      const row: KeyRow = {
        id: clock.newId(now),
        ...key,
        revokedAt: null,
        lastUsedAt: null,
        createdAt: now,
        createdByType,
        createdById,
        createdByName,
      }
      await repos.keys.insert(row, secretRow(row.id, { secret, createdAt: now }))
      await record(repos, { type: 'key.created', key: row, caller, now, details: { scopes: row.scopes } })
      return { ...toApiKey(row, { secret, previousSecretExpiresAt: null }), key: secret.text }
    },

    /** Creates a new secret; the previous one stays valid for the overlap. */
    async rotate(
      repos: BoundRepositories,
      { caller, key, overlapSeconds }: KeyChange & { overlapSeconds: number },
    ): Promise<ApiKeyWithSecret> {
      const now = clock.now()
      const secret = keySecret(randomBytes)
      const previousUntil = new Date(now.getTime() + overlapSeconds * 1000)
      await repos.keys.rotate(secretRow(key.id, { secret, createdAt: now }), previousUntil)
      await record(repos, { type: 'key.rotated', key, caller, now, details: { overlapSeconds } })
      const previousSecretExpiresAt = overlapSeconds > 0 ? previousUntil : null
      return { ...toApiKey(key, { secret, previousSecretExpiresAt }), key: secret.text }
    },

    async revoke(repos: BoundRepositories, { caller, key }: KeyChange): Promise<void> {
      const now = clock.now()
      await repos.keys.revoke(key.id, now)
      await record(repos, { type: 'key.revoked', key, caller, now })
    },

    /** Keys that were not revoked, oldest first: all in reach, or the personal ones of a person. */
    async list(repos: Pick<BoundRepositories, 'keys'>, { userId, ...request }: KeyList) {
      const now = clock.now()
      return readPage({
        order: orderById(userId === undefined ? 'keys' : 'personal keys'),
        request,
        async read(after, limit) {
          const rows = await repos.keys.list({ userId, after, limit, now })
          return rows.map((row) =>
            toApiKey(row, { secret: row, previousSecretExpiresAt: row.previousSecretExpiresAt }),
          )
        },
      })
    },
  }

  function record(repos: BoundRepositories, { type, key, caller, now, details = {} }: RecordedChange) {
    const { id: keyId, name: keyName, userId, projectId } = key
    // What people call their keys, and what these may do, is nothing for others to read.
    if (userId !== null) return log(repos, { now, type, caller, metadata: { keyId, userId } })
    return log(repos, { now, type, caller, projectId, metadata: { keyId, keyName, ...details } })
  }
}

interface KeyList {
  userId?: string
  limit?: number
  cursor?: string
}

/** A change as the activity log gets it. */
interface RecordedChange {
  type: string
  key: KeyRow
  caller: Caller
  now: Date
  details?: Record<string, unknown> | undefined
}

/** @throws validation_failed for an expiry that has passed */
export function requireFuture(expiresAt: Date | null, now: Date): void {
  if (expiresAt && expiresAt <= now) throw invalidExpiry('must be in the future')
}

export const invalidExpiry = (message: string) =>
  validationFailed([{ path: '/expiresAt', code: 'out_of_range', message }])

const secretRow = (
  keyId: string,
  {
    secret: { hash, prefix, lastFour },
    createdAt,
  }: { secret: Pick<KeySecretRow, 'hash' | 'prefix' | 'lastFour'>; createdAt: Date },
): KeySecretRow => ({ keyId, hash, prefix, lastFour, expiresAt: null, createdAt })

const toApiKey = (
  row: KeyRow,
  {
    secret: { prefix, lastFour },
    previousSecretExpiresAt,
  }: { secret: Pick<KeySecretRow, 'prefix' | 'lastFour'>; previousSecretExpiresAt: Date | null },
): ApiKey => ({
  id: row.id,
  name: row.name,
  userId: row.userId,
  prefix,
  lastFour,
  scopes: row.scopes as Scope[],
  projectId: row.projectId,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  previousSecretExpiresAt: previousSecretExpiresAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  createdBy:
    row.createdByType === null || row.createdByName === null
      ? null
      : { type: row.createdByType, id: row.createdById, name: row.createdByName },
})
