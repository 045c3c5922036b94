import type { Operations } from '../../domain/operation.ts'
import { userNotFound } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type { NameChange, User } from '../../schemas/user.ts'
import type { AccessService, Caller } from '../access.ts'
import { changeLog } from '../activity/row.ts'
import { toUser } from '../user-view.ts'
import type { PasswordSignIn } from './password-sign-in.ts'
import type { PasswordHashes } from './passwords.ts'

interface AccountDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  hashes: PasswordHashes
  passwords: Pick<PasswordSignIn, 'requireOn'>
}

export const accountOperations = {
  update: { scope: 'any', person: 'signed in' },
  setPassword: { scope: 'any', person: 'recently' },
} satisfies Operations<ReturnType<typeof accountService>>

/** What a person changes of its own account. */
export function accountService({ repos, access, clock, hashes, passwords }: AccountDeps) {
  const record = changeLog(clock)

  return {
    async update(caller: Caller, change: NameChange): Promise<User> {
      const user = await repos.within(caller).transaction(async (repos) => {
        const before = await lockedSelf(repos, caller)
        const after = { ...before, ...change }
        await repos.users.update(before.id, change)
        const names = (['name', 'email'] as const).filter((name) => before[name] !== after[name])
        if (names.length > 0)
          await log(repos, { type: 'person.updated', caller, metadata: { changed: names } })
        return after
      })
      access.forget()
      return toUser(user)
    },

    /**
     * Replaces the password, and ends all other sessions of the person.
     * @throws rate_limited, validation_failed if passwords are off
     */
    async setPassword(caller: Caller, password: string): Promise<void> {
      passwords.requireOn()
      const hash = await hashes.hash(password)
      await repos.within(caller).transaction(async (repos) => {
        const { id } = await lockedSelf(repos, caller)
        await repos.users.setPassword(id, hash)
        await repos.sessions.deleteOf({ userId: id }, { exceptId: caller.id })
        await log(repos, { type: 'person.password_changed', caller, metadata: {} })
      })
      access.forget()
    },
  }

  /** @throws user_not_found for somebody who was deactivated meanwhile */
  async function lockedSelf(repos: BoundRepositories, { principal: { id } }: Caller): Promise<UserRow> {
    const row = await repos.users.findForUpdate(id)
    if (!row?.isActive) throw userNotFound(id)
    return row
  }

  function log(
    repos: BoundRepositories,
    { type, caller, metadata }: { type: string; caller: Caller; metadata: object },
  ): Promise<void> {
    const { id: userId } = caller.principal
    const { username } = caller.user as UserRow
    return record(repos, { type, caller, now: clock.now(), metadata: { userId, username, ...metadata } })
  }
}
