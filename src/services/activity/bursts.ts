import { type ChangePosition, encodeChangeCursor } from '../../domain/change-cursor.ts'
import type { StreamEvent } from './feed.ts'
import type { Subscription } from './subscription.ts'

/** So many changes in ten seconds are sent one by one. */
export const MAX_CHANGES = 50
const WINDOW_MS = 10_000
/** While there are more, one event is sent in this time, */
const PAUSE_MS = 2_000
/** until it has no more changes than these. */
const FEW = 10

/** For a client that need not know each change of a burst: one event stands for many. */
export function withoutBursts(subscription: Subscription): Subscription {
  let windowEnd = 0
  let count = 0
  let isBurst = false

  return {
    start: subscription.start,
    position: subscription.position,

    async next(deadlineMs) {
      if (isBurst) return nextOfBurst()
      const events = await subscription.next(deadlineMs)
      if (performance.now() > windowEnd) {
        windowEnd = performance.now() + WINDOW_MS
        count = 0
      }
      count += events.filter(isChange).length
      if (count <= MAX_CHANGES) return events
      isBurst = true
      return summaryOf(events)
    },
  }

  async function nextOfBurst(): Promise<StreamEvent[]> {
    const end = performance.now() + PAUSE_MS
    const events: StreamEvent[] = []
    for (let left = PAUSE_MS; left > 0; left = end - performance.now()) {
      const more = await subscription.next(left)
      // The time is over, or the subscription is.
      if (more.length === 0) break
      events.push(...more)
    }
    isBurst = events.filter(isChange).length > FEW
    return isBurst ? summaryOf(events) : events
  }
}

/** Stands for all changes up to a position. */
export const burstUpTo = (position: ChangePosition): StreamEvent => burst(encodeChangeCursor(position))

/** What is not stored is sent as it is: it has no other place. */
function summaryOf(events: StreamEvent[]): StreamEvent[] {
  const last = events.findLast(isChange)
  return [...events.filter((event) => !isChange(event)), ...(last ? [burst(last.id)] : [])]
}

const burst = (id: string | null): StreamEvent => ({ id, type: 'stream.burst', projectId: null, data: '{}' })

const isChange = ({ id }: StreamEvent) => id !== null
