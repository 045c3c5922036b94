import { isNoChange } from '../../domain/changes.ts'
import type { Operations } from '../../domain/operation.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { NameChange, User } from '../../schemas/user.ts'
import type { AccessService, Caller } from '../access.ts'
import { changeLog } from '../activity/row.ts'
import { toUser } from '../user-view.ts'
import type { PasswordSignIn } from './password-sign-in.ts'
import type { PasswordHashes } from './passwords.ts'
import { lockedSelf } from './self.ts'
import { changesOf } from './users.ts'

interface AccountDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget' | 'refresh'>
  clock: Clock
  hashes: PasswordHashes
  passwords: Pick<PasswordSignIn, 'requireOn' | 'browserOf'>
}

export const accountOperations = {
  update: { scope: 'any', person: 'signed in' },
  setPassword: { scope: 'any', person: 'recently' },
} satisfies Operations<ReturnType<typeof accountService>>

/** What a person changes of its own account. */
export function accountService({ repos, access, clock, hashes, passwords }: AccountDeps) {
  const record = changeLog(clock)

  return {
    /** @throws user_not_found, invalid_credentials if the person was deactivated or the session ended meanwhile */
    async update(caller: Caller, change: NameChange): Promise<User> {
      const user = await repos.within(caller).transaction(async (repos) => {
        const before = await lockedSelf(repos, caller)
        const after = { ...before, ...change }
        const changes = changesOf(before, after)
        if (isNoChange(changes)) return before
        await repos.users.rename(before.id, change)
        const metadata = { userId: before.id, username: before.username, changes }
        await record(repos, { type: 'person.updated', caller, now: clock.now(), metadata })
        return after
      })
      access.refresh()
      return toUser(user)
    },

    /**
     * Replaces the password, and ends all other sessions of the person. Returns what the browser keeps.
     * @throws rate_limited, validation_failed if passwords are off; user_not_found, invalid_credentials if the person was
     * deactivated or the session ended while the password was hashed
     */
    async setPassword(caller: Caller, password: string): Promise<string> {
      passwords.requireOn()
      const hash = await hashes.hash(password)
      await repos.within(caller).transaction(async (repos) => {
        const { id: userId, username } = await lockedSelf(repos, caller)
        await repos.users.setPassword(userId, hash)
        await repos.sessions.deleteOf({ userId }, { exceptId: caller.id })
        await repos.signInAttempts.deleteOfUser(userId)
        const metadata = { userId, username }
        await record(repos, { type: 'person.password_changed', caller, now: clock.now(), metadata })
      })
      access.forget()
      return passwords.browserOf(hash)
    },
  }
}
