import { firstIdOf, timeOf } from './id-time.ts'

/** Commits are not in the order of ids, so a replay begins so long before the entry it was asked from. */
const OVERLAP_MS = 60_000

/** From an id that was never here, a caller could ask for all there ever was. */
const FARTHEST_MS = 24 * 3_600_000

/** The id to replay from, that one included, when this entry was the last one seen. */
export function replayFrom(lastSeen: string, { isKnown, now }: { isKnown: boolean; now: Date }): string {
  const earliest = isKnown ? 0 : now.getTime() - FARTHEST_MS
  const seen = timeOf(lastSeen)?.getTime() ?? 0
  return firstIdOf(new Date(Math.min(Math.max(seen, earliest), now.getTime()) - OVERLAP_MS))
}
