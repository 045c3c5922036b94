import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import type { SourceReading } from '../../domain/sources/reading.ts'
import { dedupKeyOf } from '../../domain/sources/repeats.ts'
import { eventNotFound, eventNotReplayable } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { SourceEventRow } from '../../repositories/sources/events.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { SourceEvent, SourceEventPath, SourceEventQuery } from '../../schemas/source-delivery.ts'
import type { Caller } from '../access.ts'
import { changedMeanwhile, retryDecision } from '../feedback/delivery.ts'
import { readPage } from '../page.ts'
import { writableProject } from '../writable-project.ts'
import { definitionOf } from './definition.ts'
import { sourceOf } from './index.ts'
import type { PayloadReader } from './reader.ts'
import { destinationOf, errorsOf, tasksIn } from './receiving.ts'
import { sourceTaskReplay } from './replayed-tasks.ts'
import { sourceTaskWriter, type WrittenItem } from './tasks.ts'

/** An event has a payload of up to 256 KiB. */
const MAX_AT_ONCE = 10

export const sourceInboxOperations = {
  list: { scope: 'admin' },
  replay: { scope: 'admin' },
} satisfies Operations<ReturnType<typeof sourceInboxService>>

/** The inbox of the sources: verified deliveries and their outcome. */
export function sourceInboxService({
  repos,
  clock,
  reader,
}: {
  repos: Repositories
  clock: Clock
  reader: Pick<PayloadReader, 'read'>
}) {
  const writeTasks = sourceTaskWriter({ clock })
  const changeTasks = sourceTaskReplay({ clock })

  return {
    /**
     * Newest first.
     * @throws source_not_found, invalid_cursor
     */
    async list(caller: Caller, { id, query }: { id: string; query: SourceEventQuery }) {
      const { outcome, ...request } = query
      const bound = repos.within(caller)
      await sourceOf(bound, id)
      return readPage({
        order: orderById('source events'),
        request,
        maxAtOnce: MAX_AT_ONCE,
        read: async (before, limit) =>
          (await bound.sourceEvents.list(id, { outcome, before, limit })).map(toSourceEvent),
      })
    },

    /**
     * Reads a stored payload again with the templates as they are now. A delivery without tasks is processed as new; the
     * tasks of an accepted one are changed.
     * @throws source_not_found, event_not_found, event_not_replayable, project_archived
     */
    async replay(caller: Caller, { id, eventId }: SourceEventPath): Promise<SourceEvent> {
      const bound = repos.within(caller)
      return bound.sourceEvents.redacted(() =>
        retryDecision(async () => {
          const source = await sourceOf(bound, id)
          const seen = await eventOf(bound, { id, eventId })
          const reading = await reader.read(definitionOf(source), storedBytes(seen))
          return bound.transaction(async (repos) => {
            await writableProject(repos, { id: source.projectId })
            const event = await repos.sourceEvents.findForUpdate(id, eventId)
            if (event?.outcome !== seen.outcome) throw changedMeanwhile()
            const change = await replayed(repos, { source, event, reading })
            if (!(await repos.sourceEvents.update(eventId, change))) throw changedMeanwhile()
            return toSourceEvent({ ...event, ...change })
          })
        }),
      )
    },
  }

  async function replayed(
    repos: BoundRepositories,
    { source, event, reading }: { source: SourceRow; event: SourceEventRow; reading: SourceReading },
  ): Promise<Partial<SourceEventRow>> {
    const errors = errorsOf(reading)
    if (reading.outcome !== 'accepted') {
      // What has tasks keeps them.
      if (event.outcome === 'accepted') return { errors }
      return { errors, outcome: reading.outcome === 'filtered' ? 'filtered' : 'rejected' }
    }
    const { deliveryId } = event
    const { bodyHash } = reading
    const dedupKey = event.dedupKey ?? (deliveryId === null ? null : dedupKeyOf({ deliveryId, bodyHash }))
    const same = dedupKey === null ? undefined : await repos.sourceEvents.findByKey(source.id, dedupKey)
    if (same && same.id !== event.id) {
      // Its sender has sent it again since, and that delivery was accepted.
      const { tasks, projectId, listId } = same
      return { outcome: 'accepted', tasks, projectId, listId, errors }
    }
    const now = clock.now()
    const known = tasksIn(event)
    await changeTasks(repos, { source, now, items: reading.tasks, known })
    const destination = await destinationOf(repos, source)
    const fresh = reading.tasks.slice(known.length)
    const made: WrittenItem[] = await writeTasks(
      repos,
      fresh.map(({ task }) => ({ source, destination, rendered: task, now })),
    )
    const { listId, projectId } = destination
    return { outcome: 'accepted', dedupKey, tasks: [...known, ...made], projectId, listId, errors }
  }
}

/** @throws event_not_found */
export async function eventOf(
  { sourceEvents }: Pick<BoundRepositories, 'sourceEvents'>,
  { id, eventId }: SourceEventPath,
): Promise<SourceEventRow> {
  const event = await sourceEvents.find(id, eventId)
  if (!event) throw eventNotFound(eventId)
  return event
}

/** @throws event_not_replayable */
export function storedBytes({ id, payload, payloadCut }: SourceEventRow): Buffer {
  if (payload === null || payloadCut) throw eventNotReplayable(id)
  return Buffer.from(payload)
}

const toSourceEvent = (row: SourceEventRow): SourceEvent => ({
  id: row.id,
  sourceId: row.sourceId,
  deliveryId: row.deliveryId,
  outcome: row.outcome,
  duplicates: row.duplicates,
  receivedAt: row.receivedAt.toISOString(),
  tasks: tasksIn(row),
  errors: row.errors as SourceEvent['errors'],
  payload: row.payload === null || row.payloadCut ? row.payload : JSON.parse(row.payload),
  payloadCut: row.payloadCut,
})
