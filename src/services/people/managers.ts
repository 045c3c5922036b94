import { allows } from '../../domain/key-strength.ts'
import type { ActorRef } from '../../domain/new-task.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { Scope } from '../../schemas/caller.ts'
import { SERVICE } from '../activity/row.ts'

/**
 * Whether an actor may manage people now, with a lock on it: its rights may have changed since its request was
 * authenticated, or its invite was created.
 */
export async function mayManagePeople(
  repos: BoundRepositories,
  { type, id }: Pick<ActorRef, 'type' | 'id'>,
): Promise<boolean> {
  // From the command line, of whoever has the database.
  if (id === null) return type === SERVICE.type
  if (type === 'user') {
    const user = await repos.users.findForShare(id)
    return user?.isActive === true && user.role === 'owner'
  }
  const key = await repos.keys.findForShare(id)
  const isLasting = key?.userId === null && key.projectId === null && key.expiresAt === null
  return isLasting && allows(key.scopes as Scope[], 'admin')
}
