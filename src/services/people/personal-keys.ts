import { allows } from '../../domain/key-strength.ts'
import type { Operations } from '../../domain/operation.ts'
import { insufficientScope, keyNotFound, tooManyKeys } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { KeyRow } from '../../repositories/keys.ts'
import { Scope } from '../../schemas/caller.ts'
import type { ApiKeyWithSecret, NewPersonalKey } from '../../schemas/key.ts'
import type { AccessService, Caller } from '../access.ts'
import { keyChanges, type NewKey, requireFuture } from '../key-changes.ts'
import { writableProject } from '../writable-project.ts'
import { lockedSelf } from './self.ts'

interface PersonalKeysDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
}

const MAX_KEYS = 50

export const personalKeyOperations = {
  create: { scope: 'any', person: 'recently' },
  list: { scope: 'any', person: 'signed in' },
  rotate: { scope: 'any', person: 'recently' },
  revoke: { scope: 'any', person: 'recently' },
} satisfies Operations<ReturnType<typeof personalKeysService>>

/**
 * The keys of a person, for assistants and scripts. Each request may do what the key and the person may do at that time.
 */
export function personalKeysService({ repos, access, clock, randomBytes }: PersonalKeysDeps) {
  const keys = keyChanges({ clock, randomBytes })

  return {
    /**
     * Creates a key that allows at most what its person may do.
     * @throws insufficient_scope, project_not_found, project_archived, validation_failed, too_many_keys
     */
    async create(caller: Caller, input: NewPersonalKey): Promise<ApiKeyWithSecret> {
      const key = requestedKey(caller, input)
      requireFuture(key.expiresAt, clock.now())
      return repos.within(caller).transaction(async (repos) => {
        const { id } = await lockedSelf(repos, caller)
        if (key.projectId !== null) await writableProject(repos, { id: key.projectId })
        if ((await repos.keys.countOfUser(id)) >= MAX_KEYS) throw tooManyKeys(MAX_KEYS)
        return keys.create(repos, { caller, key })
      })
    },

    /** Oldest first. */
    async list(caller: Caller, request: { limit?: number; cursor?: string }) {
      return keys.list(repos.within(caller), { userId: caller.principal.id, ...request })
    },

    /**
     * Creates a new secret for a key; the previous one stays valid for the overlap.
     * @throws key_not_found
     */
    async rotate(
      caller: Caller,
      { id, overlapSeconds }: { id: string; overlapSeconds: number },
    ): Promise<ApiKeyWithSecret> {
      const rotated = await repos.within(caller).transaction(async (repos) => {
        const key = await ownForUpdate(repos, { caller, id })
        return keys.rotate(repos, { caller, key, overlapSeconds })
      })
      access.forget()
      return rotated
    },

    /**
     * Revokes a key, at once and on every instance.
     * @throws key_not_found
     */
    async revoke(caller: Caller, id: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        await keys.revoke(repos, { caller, key: await ownForUpdate(repos, { caller, id }) })
      })
      access.forget()
    },
  }

  async function ownForUpdate(
    repos: BoundRepositories,
    { caller, id }: { caller: Caller; id: string },
  ): Promise<KeyRow> {
    const { id: userId } = await lockedSelf(repos, caller)
    const key = await repos.keys.findOfUserForUpdate(id, userId)
    if (!key) throw keyNotFound(id)
    return key
  }
}

/**
 * Omitted scopes are all that the role allows, except `admin`.
 * @throws insufficient_scope
 */
function requestedKey(
  { principal, scopes: ofRole }: Caller,
  { name, scopes, projectId = null, expiresAt: expiry }: NewPersonalKey,
): NewKey {
  const requested = [
    ...new Set(scopes ?? Scope.filter((scope) => scope !== 'admin' && allows(ofRole, scope))),
  ]
  const beyond = requested.find((scope) => !allows(ofRole, scope))
  if (beyond) throw insufficientScope(beyond)
  const expiresAt = expiry ? new Date(expiry) : null
  return { name, userId: principal.id, scopes: requested, projectId, expiresAt }
}
