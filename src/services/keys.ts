import { orderById } from '../domain/cursor.ts'
import { outlives, type Strength, scopeBeyond } from '../domain/key-strength.ts'
import type { Operations } from '../domain/operation.ts'
import { keySecret } from '../domain/secret.ts'
import {
  insufficientScope,
  keyNotFound,
  lastAdminKey,
  strongerKey,
  validationFailed,
} from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../repositories/index.ts'
import type { KeyRow, KeySecretRow } from '../repositories/keys.ts'
import type { Scope } from '../schemas/caller.ts'
import type { ApiKey, ApiKeyWithSecret, NewApiKey } from '../schemas/key.ts'
import type { AccessService, Caller } from './access.ts'
import { actorOf, changeLog } from './activity/row.ts'
import { readPage } from './page.ts'
import { defaultProjectOf } from './place.ts'
import { writableProject } from './writable-project.ts'

interface KeysDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
}

export const keyOperations = {
  create: { scope: 'admin', changesSecrets: true },
  list: { scope: 'admin' },
  rotate: { scope: 'admin', changesSecrets: true },
  revoke: { scope: 'admin', changesSecrets: true },
} satisfies Operations<ReturnType<typeof keysService>>

/** API keys. A key cannot create, rotate or revoke a stronger one. */
export function keysService({ repos, access, clock, randomBytes }: KeysDeps) {
  const log = changeLog(clock)

  return {
    /** @throws project_not_found, project_archived, insufficient_scope, validation_failed */
    async create(caller: Caller, input: NewApiKey): Promise<ApiKeyWithSecret> {
      const now = clock.now()
      const requested = requestedStrength(caller, { key: input, now })
      return repos.within(caller).transaction(async (repos) => {
        if (requested.projectId) await writableProject(repos, { id: requested.projectId })
        const secret = keySecret(randomBytes)
        const id = clock.newId(now)
        const { type: createdByType, id: createdById, name: createdByName } = actorOf(caller)
        const row: KeyRow = {
          id,
          name: input.name,
          ...requested,
          revokedAt: null,
          lastUsedAt: null,
          createdAt: now,
          createdByType,
          createdById,
          createdByName,
        }
        await repos.keys.insert(row, secretRow(id, { secret, createdAt: now }))
        await record(repos, { type: 'key.created', key: row, caller, now, details: { scopes: row.scopes } })
        return { ...toApiKey(row, { secret, previousSecretExpiresAt: null }), key: secret.text }
      })
    },

    /** Oldest first. */
    async list(caller: Caller, request: { limit?: number; cursor?: string }) {
      const now = clock.now()
      return readPage({
        order: orderById('keys'),
        request,
        async read(after, limit) {
          const rows = await repos.within(caller).keys.list({ after, limit, now })
          return rows.map((row) =>
            toApiKey(row, { secret: row, previousSecretExpiresAt: row.previousSecretExpiresAt }),
          )
        },
      })
    },

    /**
     * Creates a new secret for the key; the previous one stays valid for the overlap.
     * @throws key_not_found, insufficient_scope
     */
    async rotate(
      caller: Caller,
      { id, overlapSeconds }: { id: string; overlapSeconds: number },
    ): Promise<ApiKeyWithSecret> {
      const rotated = await repos.within(caller).transaction(async (repos) => {
        const row = await keyForUpdate(repos, { caller, id })
        const now = clock.now()
        const secret = keySecret(randomBytes)
        const previousUntil = new Date(now.getTime() + overlapSeconds * 1000)
        await repos.keys.rotate(secretRow(id, { secret, createdAt: now }), previousUntil)
        await record(repos, { type: 'key.rotated', key: row, caller, now, details: { overlapSeconds } })
        return {
          ...toApiKey(row, { secret, previousSecretExpiresAt: overlapSeconds > 0 ? previousUntil : null }),
          key: secret.text,
        }
      })
      access.forget()
      return rotated
    },

    /**
     * Revokes the key and ends its sessions, at once and on every instance.
     * @throws key_not_found, insufficient_scope, last_admin_key
     */
    async revoke(caller: Caller, id: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const row = await keyForUpdate(repos, { caller, id })
        const now = clock.now()
        if (isAdminOfAll(row, now) && !(await repos.keys.isAnotherAdmin(id, now)))
          throw lastAdminKey(row.name)
        await repos.keys.revoke(id, now)
        await repos.sessions.deleteOf({ keyId: id })
        await repos.invites.deleteCreatedBy(id)
        await record(repos, { type: 'key.revoked', key: row, caller, now })
      })
      access.forget()
    },
  }

  function record(repos: BoundRepositories, { type, key, caller, now, details = {} }: RecordedChange) {
    const about = { projectId: key.projectId, metadata: { keyId: key.id, keyName: key.name, ...details } }
    return log(repos, { now, type, caller, ...about })
  }
}

/** A change as the activity log gets it. */
interface RecordedChange {
  type: string
  key: Pick<KeyRow, 'id' | 'name' | 'projectId'>
  caller: Caller
  now: Date
  details?: Record<string, unknown> | undefined
}

interface RequestedStrength extends Strength {
  projectId: string | null
}

/** The strength of the new key; omitted members are those of the caller's key. */
function requestedStrength(
  caller: Caller,
  { key: { scopes, projectId, expiresAt }, now }: { key: NewApiKey; now: Date },
): RequestedStrength {
  const expiry = typeof expiresAt === 'string' ? new Date(expiresAt) : expiresAt
  const requested: RequestedStrength = {
    scopes: [...new Set(scopes ?? [])],
    projectId: projectId === undefined ? defaultProjectOf(caller) : projectId,
    expiresAt: expiry === undefined ? caller.expiresAt : expiry,
  }
  if (requested.expiresAt && requested.expiresAt <= now) throw invalidExpiry('must be in the future')
  if (outlives(requested, caller)) {
    throw invalidExpiry(
      `must not be later than the expiry of the creating key, ${caller.expiresAt?.toISOString()}`,
    )
  }
  const beyond = scopeBeyond(requested, caller)
  if (beyond) throw insufficientScope(beyond)
  if (caller.projectIds && requested.projectId === null) throw insufficientScope('admin')
  return requested
}

const invalidExpiry = (message: string) =>
  validationFailed([{ path: '/expiresAt', code: 'out_of_range', message }])

async function keyForUpdate(
  repos: BoundRepositories,
  { caller, id }: { caller: Caller; id: string },
): Promise<KeyRow> {
  const row = await repos.keys.findForUpdate(id)
  if (!row) throw keyNotFound(id)
  // With the new secret of a stronger key the caller would gain its permissions.
  const strength = { ...row, scopes: row.scopes as Scope[] }
  if (id !== caller.principal.id && (scopeBeyond(strength, caller) || outlives(strength, caller))) {
    throw strongerKey()
  }
  return row
}

const isAdminOfAll = ({ scopes, projectId, expiresAt }: KeyRow, now: Date) =>
  scopes.includes('admin') && projectId === null && !(expiresAt && expiresAt <= now)

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
