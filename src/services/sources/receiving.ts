import type { IncomingHttpHeaders } from 'node:http'
import type { SourceReading } from '../../domain/sources/reading.ts'
import { storedSenderId } from '../../domain/sources/repeats.ts'
import { deliveryIdIn } from '../../domain/sources/signature.ts'
import { invalidSender, isUnavailable, notJson, validationFailed } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import { isOver } from '../../lib/turns.ts'
import type { SourceDeliveryRow } from '../../repositories/deliveries/store.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import { retryDecision } from '../retry-decision.ts'
import { definitionOf } from './definition.ts'
import { type Accepted, clearSlow, deliveryWriter, type StoredReceipt } from './delivery.ts'
import { pendingDeliveries, pendingRow } from './pending.ts'
import type { PayloadReader } from './reader.ts'
import { countSlow } from './slow.ts'
import { externalIdsIn, lockProjects } from './tasks.ts'

const MIB = 1024 * 1024

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

/** A verified delivery with its time and ids: it can be stored again after an error. */
export interface SourceDelivery {
  source: SourceTarget
  /** As it is while the delivery is pending. */
  pending: SourceDeliveryRow
  /** Undefined if its source has used up its share, or has pending deliveries. */
  reading: SourceReading | undefined
  bytes: Buffer
}

/** The receiver of the sources: stores each delivery and writes its tasks in one transaction, in batches. */
export function sourceReceiver({
  repos,
  clock,
  reader,
}: {
  repos: Repositories
  clock: Clock
  reader: Pick<PayloadReader, 'readInShare'>
}) {
  const writeDeliveries = deliveryWriter({ clock })
  const storePending = pendingDeliveries({ repos })
  const deliver = batcher((deliveries: WeighedDelivery[]) => redacted(() => deliverAll(deliveries)), {
    name: 'store deliveries of sources',
    maxItems: 50,
    // Two at a time, so that PostgreSQL works while this process prepares the next.
    concurrency: 2,
    maxBytes: 2 * MIB,
    bytesOf: ({ bytes }) => bytes,
    isForAll: isUnavailable,
  })

  return {
    /** Renders the templates on a payload if it is the turn of its source, and assigns time and ids. */
    async deliveryOf(
      source: SourceTarget,
      { bytes, headers }: { bytes: Buffer; headers: IncomingHttpHeaders },
    ): Promise<SourceDelivery> {
      const result = source.hasBacklog
        ? undefined
        : await reader.readInShare({ definition: definitionOf(source), bytes }, source.id)
      const reading = result && !isOver(result) ? result : undefined
      const senderId = storedSenderId(deliveryIdIn(headers, source.scheme))
      const receivedAt = clock.now()
      const pending = pendingRow({ id: clock.newId(receivedAt), source, receivedAt, senderId })
      return { source, pending, reading, bytes }
    },

    /**
     * Stores a delivery; returns after the commit. Can be retried with the same delivery.
     * @throws invalid_json, validation_failed, rate_limited if too many are pending, invalid_credentials if the source was
     * deleted meanwhile; unavailable: then retry
     */
    async receive(delivery: SourceDelivery): Promise<StoredReceipt> {
      const { source, reading, pending, bytes } = delivery
      if (!reading) return storePending(delivery)
      const row = rowOf(pending, reading)
      if (reading.outcome === 'accepted') {
        const receipt = await deliver({ source, row, tasks: reading.tasks, bytes: bytes.length })
        // An earlier one became pending meanwhile.
        return receipt ?? storePending(delivery)
      }
      await redacted(() =>
        repos.within(everywhere).transaction(async (repos) => {
          await lockSources(repos, [delivery])
          await storeUntaken(repos, { clock, source, row, reading })
        }),
      )
      if (reading.outcome === 'filtered') return { accepted: false, reason: 'filtered' }
      if (reading.outcome === 'unreadable') throw notJson(reading.readUpTo)
      throw validationFailed(reading.errors)
    },
  }

  /** Undefined for those that have to wait for pending ones. */
  async function deliverAll(deliveries: WeighedDelivery[]): Promise<(StoredReceipt | undefined)[]> {
    return retryDecision(() =>
      repos.within(everywhere).transaction(async (repos) => {
        const projects = await lockProjects(repos, {
          projectIds: deliveries.map(({ source }) => source.projectId),
          items: deliveries.flatMap(({ source, tasks }) => externalIdsIn(source.id, tasks)),
        })
        const locked = await lockSources(repos, deliveries)
        const now = deliveries.filter(({ source }) => !locked.get(source.id))
        const receipts = await writeDeliveries(repos, { deliveries: now, projects })
        const receiptOf = new Map(now.map((delivery, index) => [delivery, receipts[index]]))
        return deliveries.map((delivery) => receiptOf.get(delivery))
      }),
    )
  }
}

/** A delivery with its share of a batch's limit. */
interface WeighedDelivery extends Accepted {
  bytes: number
}

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
