import type { SourceReading } from '../../domain/sources/reading.ts'
import { storedSenderId } from '../../domain/sources/repeats.ts'
import { deliveryIdIn } from '../../domain/sources/signature.ts'
import { invalidSender } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { isOver } from '../../lib/turns.ts'
import type { SourceDeliveryRow } from '../../repositories/deliveries/store.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import { activityRow, SERVICE } from '../activity/row.ts'
import type { Interpreter, Taken } from '../deliveries/receiver.ts'
import { definitionOf } from './definition.ts'
import { type Accepted, clearSlow, deliveryWriter } from './delivery.ts'
import { pendingDeliveries, pendingRow } from './pending.ts'
import type { PayloadReader } from './reader.ts'
import { externalIdsIn, lockProjects } from './tasks.ts'

/** The source that a delivery is for. */
export type SourceTarget = Pick<
  SourceRow,
  | 'id'
  | 'name'
  | 'projectId'
  | 'listId'
  | 'scheme'
  | 'mapping'
  | 'each'
  | 'filter'
  | 'template'
  | 'clears'
  | 'slowDeliveries'
> & { hasBacklog: boolean }

/** A delivery of a source. */
interface SourceDelivery {
  source: SourceTarget
  /** As it is while the delivery is pending. */
  pending: SourceDeliveryRow
  /** Undefined if its source has used up its share, or has pending deliveries. */
  reading: SourceReading | undefined
  bytes: Buffer
  size: number
}

/** Reads the deliveries of sources with their templates. */
export function templateInterpreter({
  repos,
  clock,
  reader,
}: {
  repos: Repositories
  clock: Clock
  reader: Pick<PayloadReader, 'readInShare'>
}): Interpreter<SourceTarget, SourceDelivery> {
  const bound = repos.within(everywhere)
  const writeDeliveries = deliveryWriter({ clock })

  return {
    name: 'store deliveries of sources',
    maxItems: 50,
    storePending: pendingDeliveries({ repos }),

    /** Renders the templates on a payload if it is the turn of its source. */
    async read(source, { bytes, headers }) {
      const result = source.hasBacklog
        ? undefined
        : await reader.readInShare({ definition: definitionOf(source), bytes }, source.id)
      const reading = result && !isOver(result) ? result : undefined
      const senderId = storedSenderId(deliveryIdIn(headers, source.scheme))
      const receivedAt = clock.now()
      const pending = pendingRow({ id: clock.newId(receivedAt), source, receivedAt, senderId })
      return { source, pending, reading, bytes, size: bytes.length }
    },

    async store(deliveries) {
      return bound.transaction(async (repos) => {
        const projects = await lockProjects(repos, {
          projectIds: deliveries.map(({ source }) => source.projectId),
          items: deliveries.flatMap(({ source, reading }) => externalIdsIn(source.id, reading.tasks)),
        })
        const locked = await lockSources(repos, deliveries)
        const now = deliveries.filter(({ source }) => !locked.get(source.id))
        const receipts = await writeDeliveries(repos, { deliveries: now.map(acceptedOf), projects })
        const receiptOf = new Map(now.map((delivery, index) => [delivery, receipts[index]]))
        return deliveries.map((delivery) => receiptOf.get(delivery))
      })
    },

    async storeUntaken(delivery) {
      const { source, pending, reading } = delivery
      await redacted(() =>
        bound.transaction(async (repos) => {
          await lockSources(repos, [delivery])
          await storeUntaken(repos, { clock, source, row: rowOf(pending, reading), reading })
        }),
      )
    },
  }
}

const acceptedOf = ({ source, pending, reading }: Taken<SourceDelivery>): Accepted => ({
  source,
  row: rowOf(pending, reading),
  tasks: reading.tasks,
})

/**
 * Returns by their ids whether they have pending deliveries.
 * @throws invalid_credentials if one was deleted
 */
async function lockSources(
  { sources }: BoundRepositories,
  deliveries: { source: Pick<SourceTarget, 'id'> }[],
): Promise<Map<string, boolean>> {
  const ids = [...new Set(deliveries.map(({ source }) => source.id))]
  const present = await sources.listForShare(ids)
  if (present.size < ids.length) throw invalidSender()
  return present
}

/** Stores a delivery that makes no task, in a transaction that has locked its source. */
export async function storeUntaken(
  repos: BoundRepositories,
  { clock, source, row, reading }: UntakenDelivery,
): Promise<void> {
  await repos.deliveries.insert([row])
  if (reading.outcome === 'rejected' && reading.isTooSlow) await countSlow(repos, { clock, source })
  else await clearSlow(repos, [{ source }])
}

interface UntakenDelivery {
  clock: Clock
  source: Accepted['source']
  row: SourceDeliveryRow
  reading: SourceReading
}

/** So many deliveries in a row that take too long to render switch their source off. */
const MAX_SLOW_IN_ROW = 10

/** Counts a delivery that took too long to render, in the transaction that stores it. */
async function countSlow(
  repos: BoundRepositories,
  { clock, source: { id: sourceId, name, projectId } }: Pick<UntakenDelivery, 'clock' | 'source'>,
): Promise<void> {
  const isOff = await repos.sources.countSlow(sourceId, { maxInRow: MAX_SLOW_IN_ROW })
  if (!isOff) return
  const metadata = { sourceId, name, reason: 'slow' }
  const about = { now: clock.now(), actor: SERVICE, projectId, metadata }
  await repos.activity.insert([activityRow(clock, { ...about, type: 'source.disabled' })])
}

/** A delivery that was read, before its tasks are written. */
export function rowOf(pending: SourceDeliveryRow, reading: SourceReading): SourceDeliveryRow {
  return {
    ...pending,
    dedupKey: reading.outcome === 'accepted' ? pending.dedupKey : null,
    outcome: reading.outcome === 'unreadable' ? 'rejected' : reading.outcome,
    errors: errorsOf(reading),
    ...reading.stored,
  }
}

export function errorsOf(reading: SourceReading) {
  if (reading.outcome === 'filtered') return null
  if (reading.outcome === 'unreadable') {
    return [{ path: '', code: 'invalid_json', message: `is not JSON from position ${reading.readUpTo}` }]
  }
  return reading.errors.length > 0 ? reading.errors : null
}
