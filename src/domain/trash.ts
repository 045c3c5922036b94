/** A deleted task or rule is hidden for so long, and can be restored; then it is gone, swept or not. */
export const TRASH_RETENTION_MS = 30 * 86_400_000

export const isPastRetention = (deletedAt: Date, now: Date) =>
  now.getTime() - deletedAt.getTime() > TRASH_RETENTION_MS
