import type { DeliveryReading } from '../../domain/feedback/reading.ts'
import { type FieldError, isUnavailable, notJson, validationFailed } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DeliveryRow, ListedDelivery } from '../../repositories/deliveries/store.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { FeedbackIgnored, FeedbackReceipt } from '../../schemas/feedback.ts'
import { tasksIn } from '../deliveries.ts'
import { retryDecision } from '../retry-decision.ts'
import {
  type Arrival,
  accept,
  asRouting,
  feedbackDelivery,
  feedbackListOf,
  routeArrivals,
} from './delivery.ts'
import { isGroupable } from './grouping.ts'

const MIB = 1024 * 1024

/** The feedback receiver. Accepts each event exactly once, in batches. */
export function feedbackService({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const { deliveries, feedback } = repos.within(everywhere)
  const deliver = batcher((arrivals: WeighedArrival[]) => redacted(() => deliverAll(arrivals)), {
    name: 'store feedback',
    maxItems: 100,
    // Three would only make batches smaller (same p99 at 500 events a second); one could be blocked by a lock.
    concurrency: 2,
    // Building the statement of a batch blocks the event loop.
    maxBytes: 2 * MIB,
    bytesOf: ({ bytes }) => bytes,
    isForAll: isUnavailable,
  })

  return {
    /**
     * Assigns time and ids to a delivery.
     * @param sourceId the source that it arrived at, if not the receiver
     */
    deliveryOf(
      reading: DeliveryReading,
      { bytes, sourceId = null }: { bytes: number; sourceId?: string | null },
    ): Delivery {
      const receivedAt = clock.now()
      if (reading.outcome === 'unreadable') return { receivedAt, ...reading }
      if (reading.outcome === 'accepted') {
        const { event, stored } = reading
        return {
          outcome: 'accepted',
          arrival: { id: clock.newId(receivedAt), sourceId, receivedAt, event, stored, bytes },
        }
      }
      const row = feedbackDelivery({ id: clock.newId(receivedAt), sourceId, receivedAt, reading })
      if (reading.outcome === 'ignored') return { outcome: 'ignored', row }
      return { outcome: 'rejected', row: { ...row, ...reading.stored }, errors: reading.errors }
    },

    /**
     * Stores a delivery; returns after the commit. Can be retried with the same delivery.
     * @throws invalid_json, validation_failed; unavailable: then retry
     */
    async receive(delivery: Delivery): Promise<FeedbackReceipt | FeedbackIgnored> {
      switch (delivery.outcome) {
        case 'accepted':
          return deliver(delivery.arrival)
        case 'rejected':
          await redacted(() => deliveries.insert([delivery.row]))
          throw validationFailed(delivery.errors)
        case 'ignored':
          // An ignored event creates no task, so its delivery may be lost.
          await unlessAway(() => deliveries.insert([delivery.row]))
          return { accepted: false, reason: 'event_ignored' }
        case 'unreadable':
          await unlessAway(() => feedback.countUnreadable(delivery.receivedAt.toISOString().slice(0, 10)))
          throw notJson(delivery.readUpTo)
      }
    },
  }

  /**
   * Two round trips: one to route the events, one that inserts deliveries, tasks and activity atomically. More only for
   * the first event of a list, for repeats, and for projects that group feedback.
   */
  async function deliverAll(arrivals: Arrival[]): Promise<FeedbackReceipt[]> {
    const bound = repos.within(everywhere)
    return retryDecision(async () => {
      const accepted = await routeArrivals(bound, {
        clock,
        arrivals,
        newListOf: (project) => bound.transaction((repos) => feedbackListOf(repos, { clock, project })),
      })
      const created = accepted.some(isGroupable)
        ? await bound.transaction((repos) => accept(repos, { clock, accepted }))
        : await accept(bound, { clock, accepted })
      const repeats = arrivals.filter(({ id }) => !created.has(id))
      const firstDeliveries = await countRepeats(deliveries, repeats)
      const rows = new Map(accepted.map(({ row }) => [row.id, row]))
      return arrivals.map(({ id, event: { dedupKey } }) =>
        receiptOf(id, created.has(id) ? rows.get(id) : firstDeliveries.get(dedupKey)),
      )
    })
  }

  async function unlessAway(work: () => Promise<unknown>): Promise<void> {
    try {
      await redacted(work)
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
  }
}

/** A delivery as far as it can be processed without the database. */
export type Delivery =
  | { outcome: 'accepted'; arrival: WeighedArrival }
  | { outcome: 'rejected'; row: DeliveryRow; errors: FieldError[] }
  | { outcome: 'ignored'; row: DeliveryRow }
  | { outcome: 'unreadable'; receivedAt: Date; readUpTo: number }

/** An arrival with its share of a batch's limit. */
interface WeighedArrival extends Arrival {
  bytes: number
}

/** Counts the repeats; returns the first delivery of each event by its deduplication key. */
async function countRepeats(
  deliveries: BoundRepositories['deliveries'],
  repeated: Arrival[],
): Promise<Map<string | null, ListedDelivery>> {
  if (repeated.length === 0) return new Map()
  const counts = new Map<string, number>()
  for (const { dedupKey } of repeated.map(({ event }) => event))
    counts.set(dedupKey, (counts.get(dedupKey) ?? 0) + 1)
  const rows = await deliveries.countRepeats(
    counts,
    repeated.map(({ id }) => id),
  )
  return new Map(rows.map((row) => [row.dedupKey, row]))
}

/** Casts: accepted feedback has all three ids, from the statement that inserted it. */
function receiptOf(
  arrivalId: string,
  row: Pick<DeliveryRow, 'id' | 'tasks' | 'projectId' | 'listId' | 'routing'> | undefined,
): FeedbackReceipt {
  if (!row) throw new Error('A delivery was neither made nor found.')
  const { ruleId, matchedOn } = asRouting(row.routing)
  return {
    accepted: true,
    deliveryId: row.id,
    taskId: tasksIn(row)[0]?.taskId as string,
    projectId: row.projectId as string,
    listId: row.listId as string,
    duplicate: row.id !== arrivalId,
    routing: { ruleId, matchedOn },
  }
}
