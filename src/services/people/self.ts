import { sessionEnded, userNotFound } from '../../errors/index.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type { Caller } from '../access.ts'

/**
 * Locks the person who sent a request in a session, which may have ended since it was authenticated.
 * @throws user_not_found if the person was deactivated, invalid_credentials if the session ended
 */
export async function lockedSelf(
  repos: BoundRepositories,
  { id, principal }: Pick<Caller, 'id' | 'principal'>,
): Promise<UserRow> {
  const user = await repos.users.findForUpdate(principal.id)
  if (!user?.isActive) throw userNotFound(principal.id)
  if (!(await repos.sessions.find(id, user.id))) throw sessionEnded()
  return user
}
