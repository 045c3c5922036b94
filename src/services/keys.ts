import { outlives, type Strength, scopeBeyond } from '../domain/key-strength.ts'
import type { Operations } from '../domain/operation.ts'
import { insufficientScope, keyNotFound, lastAdminKey, personalKey, strongerKey } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../repositories/index.ts'
import type { KeyRow } from '../repositories/keys.ts'
import type { Scope } from '../schemas/caller.ts'
import type { ApiKeyWithSecret, NewApiKey } from '../schemas/key.ts'
import type { AccessService, Caller } from './access.ts'
import { invalidExpiry, keyChanges, requireFuture } from './key-changes.ts'
import { defaultProjectOf } from './place.ts'
import { writableProject } from './writable-project.ts'

interface KeysDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
}

export const keyOperations = {
  create: { scope: 'admin', changesSecrets: true, isBeyondPersonalKeys: true },
  list: { scope: 'admin' },
  rotate: { scope: 'admin', changesSecrets: true, isBeyondPersonalKeys: true },
  revoke: { scope: 'admin', changesSecrets: true },
} satisfies Operations<ReturnType<typeof keysService>>

/** API keys. A key cannot create, rotate or revoke a stronger one. */
export function keysService({ repos, access, clock, randomBytes }: KeysDeps) {
  const keys = keyChanges({ clock, randomBytes })

  return {
    /** @throws project_not_found, project_archived, insufficient_scope, validation_failed */
    async create(caller: Caller, input: NewApiKey): Promise<ApiKeyWithSecret> {
      const requested = requestedStrength(caller, { key: input, now: clock.now() })
      return repos.within(caller).transaction(async (repos) => {
        if (requested.projectId) await writableProject(repos, { id: requested.projectId })
        return keys.create(repos, { caller, key: { name: input.name, userId: null, ...requested } })
      })
    },

    /** Oldest first. Personal keys are in reach of all projects. */
    async list(caller: Caller, request: { limit?: number; cursor?: string }) {
      return keys.list(repos.within(caller), request)
    },

    /**
     * Creates a new secret for the key; the previous one stays valid for the overlap.
     * @throws key_not_found, insufficient_scope, personal_key
     */
    async rotate(
      caller: Caller,
      { id, overlapSeconds }: { id: string; overlapSeconds: number },
    ): Promise<ApiKeyWithSecret> {
      const rotated = await repos.within(caller).transaction(async (repos) => {
        const key = await keyForUpdate(repos, { caller, id })
        // With the new secret the caller could act as its person.
        if (key.userId !== null) throw personalKey()
        return keys.rotate(repos, { caller, key, overlapSeconds })
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
        const key = await keyForUpdate(repos, { caller, id })
        const now = clock.now()
        if (isAdminOfAll(key, now) && !(await repos.keys.isAnotherAdmin(id, now)))
          throw lastAdminKey(key.name)
        await keys.revoke(repos, { caller, key })
        await repos.sessions.deleteOf({ keyId: id })
        await repos.invites.deleteCreatedBy(id)
      })
      access.forget()
    },
  }
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
  requireFuture(requested.expiresAt, now)
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

const isAdminOfAll = ({ userId, scopes, projectId, expiresAt }: KeyRow, now: Date) =>
  userId === null && scopes.includes('admin') && projectId === null && !(expiresAt && expiresAt <= now)
