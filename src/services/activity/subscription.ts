import type { ChangePosition } from '../../domain/change-cursor.ts'
import type { StreamEvent } from './feed.ts'

export interface Subscription {
  /** Changes after it are delivered, earlier ones are not. */
  start: ChangePosition
  /** All changes up to here are in what `next` has returned, if that was empty. */
  position(): ChangePosition
  /** The next batch of events; empty at the deadline or the end of the subscription. */
  next(deadlineMs: number): Promise<StreamEvent[]>
}

/** Characters buffered for a reader. Followers share the texts, so a hundred slow ones cost little more than one. */
const MAX_WAITING = 1024 * 1024
/** Added to each event's length, so that many small events are bounded, too. */
const OVERHEAD = 100
/** Characters of one batch. */
const MAX_BATCH = 64 * 1024

interface SubscriptionOptions {
  ending: AbortController
  isRelevant(event: StreamEvent): boolean
  /** Up to where the feed has pushed events. */
  position(): ChangePosition
}

/** One subscriber with a bounded buffer; a slow one is disconnected. */
export function bufferedSubscription(
  start: ChangePosition,
  { ending, isRelevant, position }: SubscriptionOptions,
) {
  let waiting: StreamEvent[] = []
  let size = 0
  let isEnded = ending.signal.aborted
  let wake = () => {}

  return {
    start,
    position,
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
