import { firstIdOf, timeOf } from './id-time.ts'

/** Commits are not in order of ids, so a replay starts this long before the activity it was requested from. */
const OVERLAP_MS = 60_000

/** Maximum age of a replay: an unknown id would otherwise allow a request for the whole activity log. */
const MAX_AGE_MS = 24 * 3_600_000

/** The first id to replay, inclusive, when `lastSeen` was the last activity received. */
export function replayFrom(lastSeen: string, { isKnown, now }: { isKnown: boolean; now: Date }): string {
  const earliest = isKnown ? 0 : now.getTime() - MAX_AGE_MS
  const seen = timeOf(lastSeen)?.getTime() ?? 0
  return firstIdOf(new Date(Math.min(Math.max(seen, earliest), now.getTime()) - OVERLAP_MS))
}
