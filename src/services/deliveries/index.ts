import { orderById } from '../../domain/cursor.ts'
import { MAX_PAYLOAD_BYTES } from '../../domain/delivery-body.ts'
import { feedbackSummary } from '../../domain/feedback/summary.ts'
import { firstIdOf } from '../../domain/id-time.ts'
import { isAllowed, type Operations } from '../../domain/operation.ts'
import { deliveryNotFound } from '../../errors/index.ts'
import { truncateUtf8 } from '../../lib/truncate-utf8.ts'
import type { DeliveryRow, Receiver, ShownDelivery } from '../../repositories/deliveries/store.ts'
import type { Repositories } from '../../repositories/index.ts'
import {
  type Delivery,
  DeliveryOutcome,
  type DeliveryQuery,
  DeliveryReceiver,
  type DeliveryWithPayload,
} from '../../schemas/delivery.ts'
import type { Caller } from '../access.ts'
import { readPage } from '../page.ts'
import { FEEDBACK_PIPE, type PipeRecorder } from '../recorder.ts'

/** Processes a delivery again, as what reads it does. */
type Replay = (caller: Caller, row: DeliveryRow) => Promise<void>

export const deliveriesOperations = {
  list: { scope: 'tasks:read' },
  get: { scope: 'tasks:read' },
  replay: { scope: 'admin' },
} satisfies Operations<ReturnType<typeof deliveriesService>>

/** What arrived at the receivers, and what became of it. */
export function deliveriesService({
  repos,
  replays,
  pipes,
}: {
  repos: Repositories
  replays: Record<Receiver, Replay>
  pipes: PipeRecorder
}) {
  return {
    /**
     * Newest first.
     * @throws invalid_cursor
     */
    async list(caller: Caller, { receiver, outcome, since, ...query }: DeliveryQuery) {
      const { sourceId, projectId, senderId, ...request } = query
      const isAdmin = seesPayloads(caller)
      const { deliveries } = repos.within(caller)
      return readPage({
        order: orderById('deliveries'),
        request,
        async read(before, limit) {
          const rows = await deliveries.list({
            receivers: receiver ? [receiver] : DeliveryReceiver,
            outcomes: outcome ? [outcome] : DeliveryOutcome,
            fromId: since && firstIdOf(new Date(since)),
            sourceId,
            projectId,
            senderId,
            before,
            limit,
            hasWords: isAdmin,
          })
          return rows.map(toDelivery)
        },
      })
    },

    get,

    /** @throws delivery_not_found, delivery_not_replayable, and what the receiver throws */
    async replay(caller: Caller, id: string): Promise<DeliveryWithPayload> {
      const row = await repos.within(caller).deliveries.find(id)
      if (!row) throw deliveryNotFound(id)
      await replays[row.receiver](caller, row)
      const replayed = await get(caller, id)
      // One of the code host is applied later.
      if (row.receiver !== 'codehost' && replayed.outcome !== 'rejected') {
        pipes.succeeded(row.sourceId === null ? FEEDBACK_PIPE : { kind: 'source', id: row.sourceId })
      }
      return replayed
    },
  }

  /**
   * With its payload, for callers with the scope `admin`.
   * @throws delivery_not_found
   */
  async function get(caller: Caller, id: string): Promise<DeliveryWithPayload> {
    const isAdmin = seesPayloads(caller)
    const row = await repos.within(caller).deliveries.findShown(id, { hasWords: isAdmin })
    if (!row) throw deliveryNotFound(id)
    const delivery = toDelivery(row)
    return isAdmin ? { ...delivery, ...payloadOf(row) } : delivery
  }
}

const seesPayloads = (caller: Caller) => isAllowed(caller, { scope: 'admin' })

/** JSON, or the beginning of its text. */
function payloadOf({
  payload,
  payloadCut,
}: DeliveryRow): Pick<DeliveryWithPayload, 'payload' | 'payloadCut'> {
  if (payload === null || payloadCut) return { payload, payloadCut }
  const shown = truncateUtf8(payload, MAX_PAYLOAD_BYTES)
  if (shown.length < payload.length) return { payload: shown, payloadCut: true }
  return { payload: JSON.parse(payload), payloadCut }
}

/** The tasks of a delivery. Cast: the services of the receivers write nothing else to the column. */
export const tasksIn = ({ tasks }: Pick<DeliveryRow, 'tasks'>): Delivery['tasks'] =>
  (tasks as Delivery['tasks']).map(({ taskId, created }) => ({ taskId, created }))

/** Casts: as above. */
const toDelivery = (row: ShownDelivery): Delivery => ({
  id: row.id,
  receiver: row.receiver,
  sourceId: row.sourceId,
  projectId: row.projectId,
  senderId: row.senderId,
  title: row.words ? feedbackSummary(row.words) : row.taskTitle,
  number: row.number,
  event: row.event && (row.action ? `${row.event}.${row.action}` : row.event),
  outcome: row.outcome,
  reason: row.reason,
  duplicates: row.duplicates,
  attempts: row.attempts,
  receivedAt: row.receivedAt.toISOString(),
  tasks: tasksIn(row),
  routing: row.routing as Delivery['routing'],
  errors: row.errors as Delivery['errors'],
  hasPayload: row.hasPayload,
})
