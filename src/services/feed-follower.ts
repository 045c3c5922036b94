import type { Snapshot } from '../domain/snapshot.ts'
import type { FeedEvent } from './feed.ts'

export interface Subscription {
  /** Everything that became visible after it will come, and nothing before. */
  start: Snapshot
  /** The next events, some at once; none when the time is over or the subscription is. */
  next(patienceMs: number): Promise<FeedEvent[]>
}

/** Characters that may wait for a reader. Followers share the texts, so a hundred that lag cost little more than one. */
const MOST_WAITING = 1024 * 1024
/** Counted for each event beside its text: many small ones are bounded as well. */
const OVERHEAD = 100
/** Characters handed out at once. */
const CHUNK = 64 * 1024

/** One who follows: what waits for it is bounded, and one that falls behind is cut off. */
export function follower(start: Snapshot, ending: AbortController, wants: (event: FeedEvent) => boolean) {
  let waiting: FeedEvent[] = []
  let size = 0
  let isEnded = ending.signal.aborted
  let wake = () => {}

  return {
    start,
    end,

    push(event: FeedEvent): void {
      if (isEnded || !wants(event)) return
      waiting.push(event)
      size += sizeOf(event)
      if (size > MOST_WAITING) this.cut()
      else wake()
    },

    cut(): void {
      end()
      ending.abort()
    },

    async next(patienceMs: number): Promise<FeedEvent[]> {
      if (waiting.length === 0 && !isEnded) await somethingOr(patienceMs)
      return take()
    },
  }

  function end(): void {
    isEnded = true
    waiting = []
    wake()
  }

  function take(): FeedEvent[] {
    let count = 0
    for (let taken = 0; count < waiting.length && taken < CHUNK; count++) {
      taken += sizeOf(waiting[count] as FeedEvent)
    }
    const events = waiting.splice(0, count)
    for (const event of events) size -= sizeOf(event)
    return events
  }

  function somethingOr(patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patienceMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

const sizeOf = ({ data }: FeedEvent) => data.length + OVERHEAD
