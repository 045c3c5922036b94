import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import { invalidCredential, passkeyNotFound, tooManyPasskeys, userNotFound } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { PasskeyRow } from '../../repositories/people/passkeys.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type { NewPasskey, Passkey, PasskeyCreationOptions } from '../../schemas/passkey.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOfUser, changeLog } from '../activity/row.ts'
import { readPage } from '../page.ts'
import {
  type Begun,
  type CreatedPasskey,
  MAX_PASSKEYS,
  type PasskeyChallenges,
} from './passkey-challenges.ts'
import { lockedSelf } from './self.ts'
import type { SignInMethods } from './sign-in-methods.ts'

interface PasskeysDeps {
  repos: Repositories
  clock: Clock
  challenges: Pick<PasskeyChallenges, 'beginCreation' | 'complete'>
  methods: SignInMethods
}

interface WithToken {
  /** The cookie of the challenge. */
  token: string | undefined
}

interface AddedPasskey {
  user: UserRow
  name: string
  passkey: CreatedPasskey
}

export const passkeyOperations = {
  list: { scope: 'any', person: 'signed in' },
  begin: { scope: 'any', person: 'recently' },
  add: { scope: 'any', person: 'recently' },
  remove: { scope: 'any', person: 'recently' },
} satisfies Operations<ReturnType<typeof passkeysService>>

/** Returns a function that stores a passkey of a person, who is locked, in a transaction. */
export function addPasskeyOf(clock: Clock) {
  return async function addPasskey(
    repos: BoundRepositories,
    { user, name, passkey }: AddedPasskey,
  ): Promise<PasskeyRow> {
    if ((await repos.passkeys.count(user.id, passkey.rpId)) >= MAX_PASSKEYS)
      throw tooManyPasskeys(MAX_PASSKEYS)
    const now = clock.now()
    const row = { id: clock.newId(now), userId: user.id, name, ...passkey, createdAt: now, lastUsedAt: null }
    await repos.passkeys.insert(row)
    const activity = {
      now,
      type: 'person.passkey_added',
      actor: actorOfUser(user),
      metadata: about(user, row),
    }
    await repos.activity.insert([activityRow(clock, activity)])
    return row
  }
}

/** The passkeys of a person's own account. */
export function passkeysService({ repos, clock, challenges, methods }: PasskeysDeps) {
  const addPasskey = addPasskeyOf(clock)
  const record = changeLog(clock)

  return {
    /** Oldest first. */
    async list({ principal, ...caller }: Caller, request: { limit?: number; cursor?: string }) {
      return readPage({
        order: orderById('passkeys'),
        request,
        read: async (after, limit) =>
          (await repos.within(caller).passkeys.list(principal.id, { after, limit })).map(toPasskey),
      })
    },

    /**
     * Begins to create a passkey.
     * @throws public_url_missing, user_not_found
     */
    async begin({ principal, ...caller }: Caller, origin: string): Promise<Begun<PasskeyCreationOptions>> {
      const user = await repos.within(caller).users.find(principal.id)
      if (!user) throw userNotFound(principal.id)
      return challenges.beginCreation(origin, { holder: user, userId: user.id, purpose: { name: 'add' } })
    },

    /**
     * Adds the passkey that the browser created.
     * @throws validation_failed, passkey_taken, too_many_passkeys; user_not_found, invalid_credentials if the person was
     * deactivated or the session ended meanwhile
     */
    async add(caller: Caller, { name, credential, token }: NewPasskey & WithToken): Promise<Passkey> {
      const path = '/credential'
      const { userId, passkey } = await challenges.complete({ purpose: 'add', credential, token, path })
      if (userId !== caller.principal.id) throw invalidCredential(path)
      return repos.within(caller).transaction(async (repos) => {
        const user = await lockedSelf(repos, caller)
        return toPasskey(await addPasskey(repos, { user, name, passkey }))
      })
    },

    /** @throws passkey_not_found, last_way_in, user_not_found, invalid_credentials */
    async remove(caller: Caller, id: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const user = await lockedSelf(repos, caller)
        const passkey = await repos.passkeys.delete({ id, userId: user.id })
        if (!passkey) throw passkeyNotFound(id)
        if (methods.isUsable(passkey)) await methods.requireOne(repos, user.id)
        const metadata = about(user, passkey)
        await record(repos, { type: 'person.passkey_removed', caller, now: clock.now(), metadata })
      })
    },
  }
}

const about = ({ id, username }: UserRow, passkey: PasskeyRow) => ({
  userId: id,
  username,
  passkeyId: passkey.id,
})

const toPasskey = ({ id, name, rpId, createdAt, lastUsedAt }: PasskeyRow): Passkey => ({
  id,
  name,
  rpId,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
})
