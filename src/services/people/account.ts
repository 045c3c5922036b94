import type { Operations } from '../../domain/operation.ts'
import { userNotFound } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { NameChange, User } from '../../schemas/user.ts'
import type { AccessService, Caller } from '../access.ts'
import { actorOf, changeLog } from '../activity/row.ts'
import type { PasswordSignIn } from './password-sign-in.ts'
import type { PasswordHashes } from './passwords.ts'
import type { UsersService } from './users.ts'

interface AccountDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  hashes: PasswordHashes
  passwords: Pick<PasswordSignIn, 'requireOn'>
  users: Pick<UsersService, 'updateAs'>
}

export const accountOperations = {
  update: { scope: 'any', person: 'signed in' },
  setPassword: { scope: 'any', person: 'recently' },
} satisfies Operations<ReturnType<typeof accountService>>

/** What a person changes of its own account. */
export function accountService({ repos, access, clock, hashes, passwords, users }: AccountDeps) {
  const record = changeLog(clock)

  return {
    async update(caller: Caller, change: NameChange): Promise<User> {
      const request = { id: caller.principal.id, change }
      const { keysToRotate: _, ...user } = await users.updateAs(actorOf(caller), request)
      return user
    },

    /**
     * Replaces the password, and ends all other sessions of the person.
     * @throws rate_limited, validation_failed if passwords are off; user_not_found if the person was deactivated meanwhile
     */
    async setPassword(caller: Caller, password: string): Promise<void> {
      passwords.requireOn()
      const hash = await hashes.hash(password)
      await repos.within(caller).transaction(async (repos) => {
        const user = await repos.users.findForUpdate(caller.principal.id)
        if (!user?.isActive) throw userNotFound(caller.principal.id)
        const { id: userId, username } = user
        await repos.users.setPassword(userId, hash)
        await repos.sessions.deleteOf({ userId }, { exceptId: caller.id })
        const metadata = { userId, username }
        await record(repos, { type: 'person.password_changed', caller, now: clock.now(), metadata })
      })
      access.forget()
    },
  }
}
