import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import type { SourceReading } from '../../domain/sources/reading.ts'
import { dedupKeyOf, isSentTwice, SAME_BODY_MS } from '../../domain/sources/repeats.ts'
import { eventNotFound, eventNotReplayable, overtaken } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { SourceEventRow } from '../../repositories/sources/events.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { SourceEvent, SourceEventPath, SourceEventQuery } from '../../schemas/source-delivery.ts'
import type { Caller } from '../access.ts'
import { readPage } from '../page.ts'
import { retryDecision } from '../retry-decision.ts'
import { writableProject } from '../writable-project.ts'
import { definitionOf } from './definition.ts'
import { sourceOf } from './index.ts'
import type { PayloadReader } from './reader.ts'
import { destinationOf, errorsOf, storedTasksIn, tasksIn } from './receiving.ts'
import { sourceTaskReplay } from './replayed-tasks.ts'
import { sourceTaskWriter, storedItems } from './tasks.ts'

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
          const reading = await reader.read(
            { definition: definitionOf(source), bytes: storedBytes(seen) },
            id,
          )
          return bound.transaction(async (repos) => {
            await writableProject(repos, { id: source.projectId })
            const event = await repos.sourceEvents.findForUpdate(id, eventId)
            if (event?.outcome !== seen.outcome) throw overtaken()
            const change = await replayed(repos, { source, event, reading })
            if (!(await repos.sourceEvents.update(eventId, change))) throw overtaken()
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
    const { dedupKey, repeat } = await keyOf(repos, { event, bodyHash: reading.bodyHash })
    if (repeat) {
      // Its sender has sent it again since, and that delivery was accepted.
      const { tasks, projectId, listId } = repeat
      return { outcome: 'accepted', tasks, projectId, listId, errors }
    }
    const now = clock.now()
    const known = storedTasksIn(event)
    await changeTasks(repos, { source, now, items: reading.tasks, known })
    const destination = await destinationOf(repos, source)
    const fresh = reading.tasks.filter(({ index }) => !known.some(({ item }) => item === index))
    const made = await writeTasks(
      repos,
      fresh.map(({ task }) => ({ source, destination, rendered: task, now })),
    )
    const tasks = [...known, ...storedItems(fresh, made)].toSorted((a, b) => a.item - b.item)
    const { listId, projectId } = destination
    return { outcome: 'accepted', dedupKey, tasks, projectId, listId, errors }
  }
}

/** The key to store with an event that is replayed, and the same delivery under this key, if there is one. */
async function keyOf(
  { sourceEvents }: BoundRepositories,
  { event, bodyHash }: { event: SourceEventRow; bodyHash: string },
): Promise<{ dedupKey: string | null; repeat?: SourceEventRow }> {
  const { sourceId, receivedAt } = event
  const dedupKey = event.dedupKey ?? dedupKeyOf({ deliveryId: event.deliveryId, bodyHash })
  const other = await sourceEvents.findByKey(sourceId, dedupKey)
  if (!other || other.id === event.id) return { dedupKey }
  if (isSentTwice(dedupKey, [event.receivedAt, other.receivedAt])) return { dedupKey, repeat: other }
  // Two events with the same body: the later one has the key.
  if (other.receivedAt > receivedAt) return { dedupKey: null }
  await sourceEvents.releaseKeys([{ sourceId, dedupKey }], new Date(receivedAt.getTime() - SAME_BODY_MS))
  return { dedupKey }
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
