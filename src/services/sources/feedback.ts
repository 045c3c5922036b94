import { type DeliveryReading, readDelivery } from '../../domain/feedback/reading.ts'
import { eventNotFound, notJson } from '../../errors/index.ts'
import type { FeedbackRow } from '../../repositories/feedback/events.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { FeedbackReceipt } from '../../schemas/feedback.ts'
import type {
  SourceEvent,
  SourceEventPath,
  SourceReceipt,
  SourceTestResult,
} from '../../schemas/source-delivery.ts'
import type { Caller } from '../access.ts'
import type { feedbackInboxService } from '../feedback/inbox.ts'
import { FEEDBACK_LIST, type routingService } from '../feedback/routing.ts'

export type FeedbackOfSources = ReturnType<typeof feedbackOfSources>

/** What arrives at sources whose mapping is `feedback`: events in the inbox of the feedback receiver. */
export function feedbackOfSources({
  repos,
  inbox,
  routing,
}: {
  repos: Repositories
  inbox: Pick<ReturnType<typeof feedbackInboxService>, 'replay'>
  routing: Pick<ReturnType<typeof routingService>, 'test'>
}) {
  const { feedback } = repos.within(everywhere)

  return {
    /** Newest first. */
    async list(
      sourceId: string,
      {
        outcome,
        ...page
      }: { outcome: SourceEvent['outcome'] | undefined; before: string | undefined; limit: number },
    ): Promise<SourceEvent[]> {
      // Reading an event takes no time of a source.
      if (outcome === 'pending') return []
      const rows = await feedback.list({ ...page, sourceId, outcome: outcome && FEEDBACK_OUTCOMES[outcome] })
      return rows.map(toSourceEvent)
    },

    find,

    /** @throws event_not_found, event_not_replayable, project_archived */
    async replay(caller: Caller, path: SourceEventPath): Promise<SourceEvent> {
      await find(path)
      await inbox.replay(caller, path.eventId)
      return toSourceEvent(await find(path))
    },

    /** The task that an event would make, and where. Changes nothing. */
    async test(bytes: Uint8Array): Promise<SourceTestResult> {
      const reading = readDelivery(bytes)
      if (reading.outcome === 'unreadable') throw notJson(reading.readUpTo)
      const errors = reading.outcome === 'rejected' ? reading.errors : []
      if (reading.outcome !== 'accepted') {
        const outcome = reading.outcome === 'ignored' ? 'filtered' : 'rejected'
        return { outcome, tasks: [], filtered: 0, errors }
      }
      return { outcome: 'accepted', tasks: [await testedTask(reading)], filtered: 0, errors }
    },
  }

  async function find({ id, eventId }: SourceEventPath): Promise<FeedbackRow> {
    const row = await feedback.find(eventId)
    if (row?.sourceId !== id) throw eventNotFound(eventId)
    return row
  }

  async function testedTask(reading: DeliveryReading & { outcome: 'accepted' }) {
    const { dedupKey, task } = reading.event
    const { title, description, priority, labels } = task
    const { explanation } = await routing.test(reading)
    const [before] = await feedback.listByKeys([dedupKey])
    return {
      item: 0,
      task: { title, ...(description !== null && { description }), priority, labels },
      existingTaskId: before?.taskId ?? null,
      reopens: false,
      explanation: before ? explanation : `Creates a task in the list “${FEEDBACK_LIST}”. ${explanation}`,
    }
  }
}

const FEEDBACK_OUTCOMES = {
  accepted: 'accepted',
  filtered: 'ignored',
  rejected: 'rejected',
} as const satisfies Record<Exclude<SourceEvent['outcome'], 'pending'>, FeedbackRow['outcome']>

const SOURCE_OUTCOMES = {
  accepted: 'accepted',
  ignored: 'filtered',
  rejected: 'rejected',
} as const satisfies Record<FeedbackRow['outcome'], SourceEvent['outcome']>

/** The response of a source to an accepted event. */
export const sourceReceiptOf = (receipt: FeedbackReceipt): SourceReceipt => ({
  ...receipt,
  tasks: [{ taskId: receipt.taskId, created: !receipt.duplicate }],
})

/** Casts: `find` and `list` return events of sources; errors are written as `FieldError`s. */
const toSourceEvent = (row: FeedbackRow): SourceEvent => ({
  id: row.id,
  sourceId: row.sourceId as string,
  deliveryId: row.uuid,
  outcome: SOURCE_OUTCOMES[row.outcome],
  duplicates: row.duplicates,
  receivedAt: row.receivedAt.toISOString(),
  tasks: row.taskId === null ? [] : [{ taskId: row.taskId, created: true }],
  errors: row.errors as SourceEvent['errors'],
  payload: row.payload === null || row.payloadCut ? row.payload : JSON.parse(row.payload),
  payloadCut: row.payloadCut,
})
