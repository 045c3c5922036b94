import { type DeliveryReading, readDelivery } from '../../domain/feedback/reading.ts'
import { isUnavailable } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DeliveryRow, ListedDelivery } from '../../repositories/deliveries/store.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { SourceReceipt } from '../../schemas/source-delivery.ts'
import { tasksIn } from '../deliveries/index.ts'
import type { Interpreter } from '../deliveries/receiver.ts'
import {
  type Arrival,
  accept,
  asRouting,
  feedbackDelivery,
  feedbackListOf,
  routeArrivals,
} from './delivery.ts'
import { isGroupable } from './grouping.ts'

/** Feedback before it is routed. */
interface FeedbackDelivery extends Pick<Arrival, 'id' | 'sourceId' | 'receivedAt'> {
  reading: DeliveryReading
  size: number
}

/** Reads feedback, of the receiver that is always there, and of sources. The latter have an id. */
export function feedbackInterpreter({
  repos,
  clock,
}: {
  repos: Repositories
  clock: Clock
}): Interpreter<{ id: string | null }, FeedbackDelivery> {
  const bound = repos.within(everywhere)
  const { deliveries, feedback } = bound

  return {
    name: 'store feedback',
    maxItems: 100,

    async read({ id: sourceId }, { bytes }) {
      const reading = readDelivery(bytes)
      const receivedAt = clock.now()
      return { id: clock.newId(receivedAt), sourceId, receivedAt, reading, size: bytes.length }
    },

    /**
     * Two round trips: one to route the events, one that inserts deliveries, tasks and activity atomically. More only for
     * the first event of a list, for repeats, and for projects that group feedback.
     */
    async store(given) {
      const arrivals = given.map(({ id, sourceId, receivedAt, reading: { event, stored } }): Arrival => {
        return { id, sourceId, receivedAt, event, stored }
      })
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
    },

    async storeUntaken({ id, sourceId, receivedAt, reading }) {
      if (reading.outcome === 'unreadable')
        return unlessAway(() => feedback.countUnreadable(receivedAt.toISOString().slice(0, 10)))
      const row = feedbackDelivery({ id, sourceId, receivedAt, reading })
      // An ignored event creates no task, so its delivery may be lost.
      if (reading.outcome === 'ignored') return unlessAway(() => deliveries.insert([row]))
      await redacted(() => deliveries.insert([{ ...row, ...reading.stored }]))
    },

    async storePending() {
      throw new Error('Feedback is read at once, so that it is never pending.')
    },
  }

  async function unlessAway(work: () => Promise<unknown>): Promise<void> {
    try {
      await redacted(work)
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
  }
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
): SourceReceipt {
  if (!row) throw new Error('A delivery was neither made nor found.')
  const { ruleId, matchedOn } = asRouting(row.routing)
  const taskId = tasksIn(row)[0]?.taskId as string
  const duplicate = row.id !== arrivalId
  return {
    accepted: true,
    deliveryId: row.id,
    taskId,
    projectId: row.projectId as string,
    listId: row.listId as string,
    duplicate,
    routing: { ruleId, matchedOn },
    tasks: [{ taskId, created: !duplicate }],
  }
}
