import type { IncomingHttpHeaders } from 'node:http'
import type { SourceReading } from '../../domain/sources/reading.ts'
import { dedupKeyOf, storedDeliveryId } from '../../domain/sources/repeats.ts'
import { deliveryIdIn } from '../../domain/sources/signature.ts'
import { invalidSender, isUnavailable, notJson, validationFailed } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { SourceEventRow } from '../../repositories/sources/events.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { SourceIgnored, SourceReceipt } from '../../schemas/source-delivery.ts'
import { retryDecision } from '../retry-decision.ts'
import { definitionOf } from './definition.ts'
import { type Accepted, ARCHIVED, deliveryWriter, leftOutRow } from './delivery.ts'
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
>

/** A verified delivery with its time and ids: it can be stored again after an error. */
export interface SourceDelivery {
  source: SourceTarget
  row: SourceEventRow
  reading: SourceReading
  bytes: number
}

/** The receiver of the sources: stores each delivery and writes its tasks in one transaction, in batches. */
export function sourceReceiver({
  repos,
  clock,
  reader,
}: {
  repos: Repositories
  clock: Clock
  reader: PayloadReader
}) {
  const { sourceEvents } = repos.within(everywhere)
  const writeDeliveries = deliveryWriter({ clock })
  const deliver = batcher(
    (deliveries: WeighedDelivery[]) => sourceEvents.redacted(() => deliverAll(deliveries)),
    {
      name: 'store deliveries of sources',
      maxItems: 50,
      // Two at a time, so that PostgreSQL works while this process prepares the next.
      concurrency: 2,
      maxBytes: 2 * MIB,
      bytesOf: ({ bytes }) => bytes,
      isForAll: isUnavailable,
    },
  )

  return {
    /** Renders the templates on a payload, and assigns time and ids. */
    async deliveryOf(
      source: SourceTarget,
      { bytes, headers }: { bytes: Buffer; headers: IncomingHttpHeaders },
    ): Promise<SourceDelivery> {
      const reading = await reader.read({ definition: definitionOf(source), bytes }, source.id)
      const deliveryId = deliveryIdIn(headers, source.scheme)
      const receivedAt = clock.now()
      const row = eventRow({ id: clock.newId(receivedAt), source, receivedAt, reading, deliveryId })
      return { source, row, reading, bytes: bytes.length }
    },

    /**
     * Stores a delivery; returns after the commit. Can be retried with the same delivery.
     * @throws invalid_json, validation_failed, invalid_credentials if the source was deleted meanwhile; unavailable: then
     * retry
     */
    async receive({ reading, ...delivery }: SourceDelivery): Promise<SourceReceipt | SourceIgnored> {
      if (reading.outcome === 'accepted') return deliver({ ...delivery, tasks: reading.tasks })
      await sourceEvents.redacted(() =>
        repos.within(everywhere).transaction(async (repos) => {
          await lockSources(repos, [delivery])
          await repos.sourceEvents.insert([delivery.row])
          if (reading.outcome === 'rejected' && reading.isTooSlow) {
            await countSlow(repos, { clock, source: delivery.source })
          } else await clearSlow(repos, [delivery])
        }),
      )
      if (reading.outcome === 'filtered') return { accepted: false, reason: 'filtered' }
      if (reading.outcome === 'unreadable') throw notJson(reading.readUpTo)
      throw validationFailed(reading.errors)
    },
  }

  async function deliverAll(deliveries: WeighedDelivery[]): Promise<(SourceReceipt | SourceIgnored)[]> {
    return retryDecision(() =>
      repos.within(everywhere).transaction(async (repos) => {
        const projects = await lockProjects(repos, {
          projectIds: deliveries.map(({ source }) => source.projectId),
          items: deliveries.flatMap(({ source, tasks }) => externalIdsIn(source.id, tasks)),
        })
        await lockSources(repos, deliveries)
        await clearSlow(repos, deliveries)
        const { open = [], archived = [] } = Object.groupBy(deliveries, ({ source }) =>
          projects.get(source.projectId) ? 'open' : 'archived',
        )
        await repos.sourceEvents.insert(archived.map(({ row }) => leftOutRow(row)))
        const receipts = await writeDeliveries(repos, { deliveries: open, projects })
        return deliveries.map(({ row }) => receipts.get(row.id) ?? ARCHIVED)
      }),
    )
  }
}

/** A delivery with its share of a batch's limit. */
interface WeighedDelivery extends Accepted {
  source: SourceTarget
  bytes: number
}

/** @throws invalid_credentials if one was deleted */
async function lockSources(
  { sources }: BoundRepositories,
  deliveries: { source: Pick<SourceTarget, 'id'> }[],
): Promise<void> {
  const ids = [...new Set(deliveries.map(({ source }) => source.id))]
  const present = await sources.listForShare(ids)
  if (present.size < ids.length) throw invalidSender()
}

/** The templates of these were rendered in time. */
const clearSlow = ({ sources }: BoundRepositories, deliveries: { source: SourceTarget }[]) =>
  sources.clearSlow(deliveries.flatMap(({ source }) => (source.slowDeliveries > 0 ? source.id : [])))

/** An inbox row, before its tasks are written. */
function eventRow({
  id,
  source,
  receivedAt,
  reading,
  ...sent
}: {
  id: string
  source: SourceTarget
  receivedAt: Date
  reading: SourceReading
  deliveryId: string | null
}): SourceEventRow {
  const isAccepted = reading.outcome === 'accepted'
  const deliveryId = storedDeliveryId(sent.deliveryId)
  return {
    id,
    sourceId: source.id,
    dedupKey: isAccepted ? dedupKeyOf(deliveryId) : null,
    deliveryId,
    outcome: reading.outcome === 'unreadable' ? 'rejected' : reading.outcome,
    duplicates: 0,
    receivedAt,
    projectId: isAccepted ? source.projectId : null,
    listId: null,
    tasks: [],
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
