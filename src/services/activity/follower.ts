import type { Snapshot } from '../../domain/snapshot.ts'
import type { StreamEvent } from './feed.ts'

export interface Subscription {
  /** Everything that became visible after it will come, and nothing before. */
  start: Snapshot
  /** The next events, some at once; none when the time is over or the subscription is. */
  next(deadlineMs: number): Promise<StreamEvent[]>
}

/** Characters that may wait for a reader. Followers share the texts, so a hundred that lag cost little more than one. */
const MAX_WAITING = 1024 * 1024
/** Counted for each event beside its text: many small ones are bounded as well. */
const OVERHEAD = 100
/** Characters handed out at once. */
const MAX_BATCH = 64 * 1024

/** One who follows: what waits for it is bounded, and one that falls behind is cut off. */
export function follower(
  start: Snapshot,
  ending: AbortController,
  isRelevant: (event: StreamEvent) => boolean,
) {
  let waiting: StreamEvent[] = []
  let size = 0
  let isEnded = ending.signal.aborted
  let wake = () => {}

  return {
    start,
    end,

    push(event: StreamEvent): void {
      if (isEnded || !isRelevant(event)) return
      waiting.push(event)
      size += sizeOf(event)
      if (size > MAX_WAITING) this.cut()
      else wake()
    },

    cut(): void {
      end()
      ending.abort()
    },

    async next(deadlineMs: number): Promise<StreamEvent[]> {
      if (waiting.length === 0 && !isEnded) await waitForEvent(deadlineMs)
      return nextBatch()
    },
  }

  function end(): void {
    isEnded = true
    waiting = []
    wake()
  }

  function nextBatch(): StreamEvent[] {
    let count = 0
    for (let length = 0; count < waiting.length && length < MAX_BATCH; count++) {
      length += sizeOf(waiting[count] as StreamEvent)
    }
    const events = waiting.splice(0, count)
    for (const event of events) size -= sizeOf(event)
    return events
  }

  function waitForEvent(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deadlineMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

const sizeOf = ({ data }: StreamEvent) => data.length + OVERHEAD
