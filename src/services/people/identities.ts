import type { Operations } from '../../domain/operation.ts'
import { identityNotFound } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { BegunSignIn, Identity } from '../../schemas/identity-provider.ts'
import type { Caller } from '../access.ts'
import { changeLog } from '../activity/row.ts'
import type { ProviderDirectory } from './provider-directory.ts'
import type { ProviderSignIn } from './provider-sign-in.ts'
import { lockedSelf } from './self.ts'
import type { SignInMethods } from './sign-in-methods.ts'

interface IdentitiesDeps {
  repos: Repositories
  clock: Clock
  directory: ProviderDirectory
  signIn: Pick<ProviderSignIn, 'beginFor'>
  methods: SignInMethods
}

export const identityOperations = {
  list: { scope: 'any', person: 'signed in' },
  link: { scope: 'any', person: 'recently' },
  unlink: { scope: 'any', person: 'recently' },
} satisfies Operations<ReturnType<typeof identitiesService>>

/** The identity providers that a person signs in with. */
export function identitiesService({ repos, clock, directory, signIn, methods }: IdentitiesDeps) {
  const record = changeLog(clock)

  return {
    /** Oldest first. */
    async list(caller: Caller): Promise<{ data: Identity[]; nextCursor: null }> {
      const bound = repos.within(caller)
      const providers = await directory.list(bound)
      const rows = await bound.identities.list(caller.principal.id)
      const data = rows.map(({ id, providerId, createdAt, lastUsedAt }) => ({
        id,
        providerId,
        providerName: providers.find(({ id }) => id === providerId)?.name ?? null,
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt.toISOString(),
      }))
      return { data, nextCursor: null }
    },

    /**
     * Begins to link a provider; the sign-in there completes it.
     * @throws public_url_missing, identity_provider_not_found, identity_provider_unreachable
     */
    async link(caller: Caller, providerId: string): Promise<BegunSignIn & { token: string }> {
      const returnTo = '/settings/account'
      return signIn.beginFor({ providerId, returnTo, userId: caller.principal.id, sessionId: caller.id })
    },

    /** @throws identity_not_found, last_way_in */
    async unlink(caller: Caller, id: string): Promise<void> {
      const { id: userId } = caller.principal
      await repos.within(caller).transaction(async (repos) => {
        await lockedSelf(repos, caller)
        const row = await repos.identities.delete(id, userId)
        if (!row) throw identityNotFound(id)
        await methods.requireOne(repos, userId)
        const metadata = { identityId: id, providerId: row.providerId, userId }
        await record(repos, { now: clock.now(), type: 'identity.unlinked', caller, metadata })
      })
    },
  }
}
