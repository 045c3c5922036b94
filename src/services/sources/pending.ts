import { dedupKeyOf } from '../../domain/sources/repeats.ts'
import { storedUnread } from '../../domain/sources/stored-payload.ts'
import { backlogFull, invalidSender, isUnavailable } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import { newDelivery, type SourceDeliveryRow } from '../../repositories/deliveries/store.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { StoredReceipt } from '../deliveries/receiver.ts'
import { pendingReceipt, repeatOf } from './delivery.ts'

const MIB = 1024 * 1024

/** Of each source: more would be processed so late that its sender should know. */
const MAX_PENDING = 1_000
const MAX_PENDING_BYTES = 16 * MIB

interface PendingDelivery {
  pending: SourceDeliveryRow
  bytes: Buffer
}

/** A delivery that is not read yet. */
export const pendingRow = ({
  source,
  ...given
}: Pick<SourceDeliveryRow, 'id' | 'receivedAt' | 'senderId'> & {
  source: Pick<SourceRow, 'id' | 'projectId'>
}): SourceDeliveryRow => {
  const { id: sourceId, projectId } = source
  const dedupKey = dedupKeyOf({ sourceId, senderId: given.senderId })
  return newDelivery({ ...given, receiver: 'source', sourceId, projectId, dedupKey, outcome: 'pending' })
}

/** Stores deliveries that a job processes later. */
export function pendingDeliveries({ repos }: { repos: Pick<Repositories, 'within'> }) {
  const store = batcher((deliveries: PendingDelivery[]) => redacted(() => storeAll(deliveries)), {
    name: 'store pending deliveries of sources',
    maxItems: 50,
    concurrency: 1,
    maxBytes: 2 * MIB,
    bytesOf: ({ bytes }) => bytes.length,
    isForAll: isUnavailable,
  })

  /** @throws rate_limited, invalid_credentials if the source was deleted meanwhile */
  return async function storePending(delivery: PendingDelivery): Promise<StoredReceipt> {
    const receipt = await store(delivery)
    if (!receipt) throw backlogFull()
    return receipt
  }

  /** Undefined for those for which there is no room. */
  async function storeAll(deliveries: PendingDelivery[]): Promise<(StoredReceipt | undefined)[]> {
    return repos.within(everywhere).transaction(async (repos) => {
      const ids = [...new Set(deliveries.map(({ pending }) => pending.sourceId))]
      // One transaction after the other, so that each delivery has a position, and the limits hold.
      if ((await repos.sources.listForUpdate(ids)).length < ids.length) throw invalidSender()
      const backlogs = new Map((await repos.sourceBacklog.sizes(ids)).map((one) => [one.sourceId, one]))
      const fitting = deliveries.flatMap(({ pending, bytes }) => {
        const { sourceId, id } = pending
        const backlog = backlogs.get(sourceId) ?? { count: 0, bytes: 0, position: 0 }
        const next = {
          sourceId,
          count: backlog.count + 1,
          bytes: backlog.bytes + bytes.length,
          position: backlog.position + 1,
        }
        if (next.count > MAX_PENDING || next.bytes > MAX_PENDING_BYTES) return []
        backlogs.set(sourceId, next)
        const row = { deliveryId: id, sourceId, position: next.position, body: bytes }
        return { pending: { ...pending, ...storedUnread(bytes) }, row }
      })
      const inserted = await repos.deliveries.insert(fitting.map(({ pending }) => pending))
      await repos.sourceBacklog.insert(
        fitting.flatMap(({ row }) => (inserted.has(row.deliveryId) ? row : [])),
      )
      const receipts = new Map<string, StoredReceipt>()
      for (const { pending } of fitting) {
        const receipt = inserted.has(pending.id)
          ? pendingReceipt(pending, { duplicate: false })
          : await repeatOf(repos, { row: pending })
        receipts.set(pending.id, receipt)
      }
      return deliveries.map(({ pending }) => receipts.get(pending.id))
    })
  }
}
