import { traced } from '../../lib/traced.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { PendingRow } from '../../repositories/deliveries/pushed.ts'
import { everywhere } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import { applyBatch, isDeletion } from './batch.ts'
import { REFETCH_MS, refetchQueues } from './refetch-queues.ts'
import type { RefetchDeps } from './refetching.ts'
import { type SettlingDeps, settledAs, settlingOf } from './settling.ts'

export interface ApplyingDeps extends SettlingDeps, RefetchDeps {}

/** One transaction. Their payloads are in memory, several times. */
const BATCH = { maxItems: 50, maxBytes: 8 * 1024 * 1024 }
/** Of one round. */
const MAX_CONNECTIONS = 20

/** Applies stored deliveries to tasks. Instances may do so at the same time: each batch locks its connection. */
export function deliveryApplier(deps: ApplyingDeps) {
  const { repos, clock } = deps
  const { pushedDeliveries } = repos.within(everywhere)
  const settling = settlingOf(deps)
  const { postpone, whileConnected } = settling
  const queues = refetchQueues(deps, settling)

  return { applyDue, whenRefetched: queues.whenRefetched }

  /**
   * Applies one batch of each connection that has any. Returns whether more were due already. What only the code host
   * knows is refetched meanwhile, and later: a slow one delays no other connection.
   */
  async function applyDue(signal: AbortSignal): Promise<boolean> {
    const due = await pushedDeliveries.listDueConnections(MAX_CONNECTIONS)
    let isMoreDue = due.length === MAX_CONNECTIONS
    const errors = queues.takeErrors()
    for (const connectionId of due) {
      if (signal.aborted) return false
      try {
        const job = {
          name: 'apply deliveries',
          kind: 'job',
          attributes: { 'inlet.connection.id': connectionId },
        } as const
        const work = () => redacted(() => applyOne(connectionId, signal))
        if (await traced(job, work)) isMoreDue = true
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
    return isMoreDue
  }

  /** Returns whether there may be more than one batch. */
  async function applyOne(connectionId: string, signal: AbortSignal): Promise<boolean> {
    const connection = await pushedDeliveries.findConnection(connectionId)
    // Its deliveries are deleted with it.
    if (!connection) return false
    try {
      return await applyBatchOf(connection, { signal, maxItems: BATCH.maxItems })
    } catch (error) {
      // One of them may be the reason: alone, it delays no other.
      const [first] = await pushedDeliveries.listDue(connectionId, { ...BATCH, maxItems: 1 })
      if (!first || signal.aborted) throw error
      await applyBatchOf(connection, { signal, maxItems: 1 }).catch(async (error) => {
        await postpone(connection, { ids: [first.id], reason: 'internal_error' })
        throw error
      })
      return true
    }
  }

  /** Returns whether the batch was full. */
  async function applyBatchOf(
    connection: ConnectionRow,
    { signal, maxItems }: { signal: AbortSignal; maxItems: number },
  ): Promise<boolean> {
    let isFull = false
    const refetches = await whileConnected(connection, async (repos, { connection, isArchived }) => {
      const rows = await repos.pushedDeliveries.listDue(connection.id, { ...BATCH, maxItems })
      isFull = rows.length === maxItems || bytesOf(rows) >= BATCH.maxBytes
      if (isArchived) {
        // A run brings what else has changed, but tells deletions only if it is a full one.
        const { suspended = [], dropped = [] } = Object.groupBy(rows, (row) =>
          isDeletion(row, connection) ? 'suspended' : 'dropped',
        )
        const settled = settledAs(dropped.map(idOf), { outcome: 'ignored', reason: 'project_archived' })
        await repos.pushedDeliveries.settle(connection.id, settled)
        await repos.pushedDeliveries.suspend(connection.id, suspended.map(idOf))
        return []
      }
      const { settled, refetches } = await applyBatch(repos, { clock, connection, rows })
      await repos.pushedDeliveries.settle(connection.id, settled)
      const ids = refetches.flatMap((refetch) => refetch.ids)
      await repos.pushedDeliveries.postpone(connection.id, { ids, afterMs: REFETCH_MS })
      return refetches
    })
    queues.add(refetches ?? [], { connectionId: connection.id, signal })
    return isFull
  }
}

const idOf = ({ id }: PendingRow) => id

const bytesOf = (rows: PendingRow[]) =>
  rows.reduce((sum, { payload }) => sum + Buffer.byteLength(payload ?? ''), 0)
