/** A deleted task or rule is hidden for so long, and can be restored; then it is gone, swept or not. */
export const HIDDEN_MS = 30 * 86_400_000

export const isGone = (deletedAt: Date, now: Date) => now.getTime() - deletedAt.getTime() > HIDDEN_MS
