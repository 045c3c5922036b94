/** How long a deleted task or rule can be restored. After that it is not found, even if the cleanup has not run yet. */
export const TRASH_RETENTION_MS = 30 * 86_400_000

export const isPastRetention = (deletedAt: Date, now: Date) =>
  now.getTime() - deletedAt.getTime() > TRASH_RETENTION_MS
