import type { BoundRepositories } from '../../repositories/index.ts'

/** Ends at once everything through which a person has access, except for invites and claims. */
export async function endAccess(
  repos: BoundRepositories,
  { userId, now }: { userId: string; now: Date },
): Promise<void> {
  await repos.sessions.deleteOf({ userId })
  await repos.keys.revokeOfUser(userId, now)
  await repos.signInAttempts.deleteOfUser(userId)
}
