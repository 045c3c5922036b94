import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import type { SourceReading } from '../../domain/sources/reading.ts'
import { dedupKeyOf } from '../../domain/sources/repeats.ts'
import { eventNotFound, eventNotReplayable, eventPending, overtaken } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { SourceEventRow } from '../../repositories/sources/events.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { SourceEvent, SourceEventPath, SourceEventQuery } from '../../schemas/source-delivery.ts'
import type { Caller } from '../access.ts'
import { readPage } from '../page.ts'
import { retryDecision } from '../retry-decision.ts'
import { writableProject } from '../writable-project.ts'
import { definitionOf } from './definition.ts'
import { destinationOf, leftOutRow, storedTasksIn, tasksIn } from './delivery.ts'
import type { FeedbackOfSources } from './feedback.ts'
import { requireReachOf, sourceOf } from './index.ts'
import type { PayloadReader } from './reader.ts'
import { errorsOf } from './receiving.ts'
import { type JudgedItem, judgeItems, rememberItems, resultIn } from './repeats.ts'
import { sourceTaskReplay } from './replayed-tasks.ts'
import { externalIdsIn, type LockedProjects, lockProjects, sourceTaskWriter } from './tasks.ts'

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
  feedback,
}: {
  repos: Repositories
  clock: Clock
  reader: Pick<PayloadReader, 'read'>
  feedback: FeedbackOfSources
}) {
  const writeTasks = sourceTaskWriter({ clock })
  const changeTasks = sourceTaskReplay({ clock })

  return {
    /**
     * Newest first.
     * @throws insufficient_scope, source_not_found, invalid_cursor
     */
    async list(caller: Caller, { id, query }: { id: string; query: SourceEventQuery }) {
      const { outcome, ...request } = query
      const bound = repos.within(caller)
      const source = await sourceOf(bound, id)
      requireReachOf(caller, source)
      return readPage({
        order: orderById('source events'),
        request,
        maxAtOnce: MAX_AT_ONCE,
        read: async (before, limit) =>
          source.mapping === 'feedback'
            ? feedback.list(id, { outcome, before, limit })
            : (await bound.sourceEvents.list(id, { outcome, before, limit })).map(toSourceEvent),
      })
    },

    /**
     * Reads a stored payload again with the templates as they are now. A delivery without tasks is processed as new; the
     * tasks of an accepted one are changed.
     * @throws insufficient_scope, source_not_found, event_not_found, event_not_replayable, project_archived
     */
    async replay(caller: Caller, { id, eventId }: SourceEventPath): Promise<SourceEvent> {
      const bound = repos.within(caller)
      return redacted(() =>
        retryDecision(async () => {
          const source = await sourceOf(bound, id)
          requireReachOf(caller, source)
          if (source.mapping === 'feedback') return feedback.replay(caller, { id, eventId })
          const seen = await eventOf(bound, { id, eventId })
          if (seen.outcome === 'pending') throw eventPending(eventId)
          const reading = await reader.read(
            { definition: definitionOf(source), bytes: storedBytes(seen) },
            id,
          )
          // The tasks of a source may have been moved to other projects.
          return repos.within(everywhere).transaction(async (repos) => {
            const items = reading.outcome === 'accepted' ? reading.tasks : []
            const projects = await lockProjects(repos, {
              projectIds: [source.projectId],
              items: externalIdsIn(id, items),
            })
            await writableProject(repos, { id: source.projectId })
            // Before the event, as deliveries do.
            const judged = await judgeItems(repos, {
              deliveries: [{ row: seen, tasks: items }],
              sentAt: seen.receivedAt,
              isReplay: true,
            })
            const event = await repos.sourceEvents.findForUpdate(id, eventId)
            if (event?.outcome !== seen.outcome) throw overtaken()
            const change = await replayed(repos, {
              ...{ source, event, reading, projects },
              items: judged.get(eventId) ?? [],
            })
            if (!(await repos.sourceEvents.update(eventId, change))) throw overtaken()
            return toSourceEvent({ ...event, ...change })
          })
        }),
      )
    },
  }

  async function replayed(
    repos: BoundRepositories,
    { source, event, reading, projects, items }: Replayed,
  ): Promise<Partial<SourceEventRow>> {
    const errors = errorsOf(reading)
    if (reading.outcome !== 'accepted') {
      // What has tasks keeps them.
      if (event.outcome === 'accepted') return { errors }
      return { errors, outcome: reading.outcome === 'filtered' ? 'filtered' : 'rejected' }
    }
    const dedupKey = event.dedupKey ?? dedupKeyOf(event.deliveryId)
    const repeat = dedupKey === null ? undefined : await repos.sourceEvents.findByKey(source.id, dedupKey)
    if (repeat && repeat.id !== event.id) {
      // Its sender has sent it again since, and that delivery was accepted.
      const { tasks, projectId, listId } = repeat
      return { outcome: 'accepted', tasks, projectId, listId, errors }
    }
    const now = clock.now()
    const known = new Map(storedTasksIn(event).map((task) => [task.item, task]))
    await changeTasks(repos, { source, now, items: reading.tasks, known: [...known.values()] })
    const destination = await destinationOf(repos, source)
    const isFresh = ({ item, isNew }: JudgedItem) => isNew && !known.has(item.index)
    const made = await writeTasks(repos, {
      projects,
      items: items.filter(isFresh).map(({ item }) => ({ source, destination, rendered: item.task, now })),
    })
    for (const judged of items) {
      const { item, isNew, latest } = judged
      const result = isFresh(judged) ? made.shift() : undefined
      const task = result && resultIn(latest, result)
      const taskId = known.get(item.index)?.taskId ?? (isNew ? task?.taskId : latest.taskId)
      if (isNew) latest.taskId = taskId ?? null
      if (taskId && !known.has(item.index))
        known.set(item.index, { taskId, created: task?.created ?? false, item: item.index })
    }
    await rememberItems(repos, {
      judged: [{ sourceId: source.id, items }],
      sentAt: event.receivedAt,
    })
    const tasks = [...known.values()].toSorted((a, b) => a.item - b.item)
    const leftOut = items.filter(({ latest }) => latest.taskId === null)
    const row = leftOutRow({ ...event, errors }, { tasks, leftOut })
    if (tasks.length === 0) return row
    const { listId, projectId } = destination
    return { outcome: 'accepted', dedupKey, tasks, projectId, listId, errors: row.errors }
  }
}

interface Replayed {
  source: SourceRow
  event: SourceEventRow
  reading: SourceReading
  projects: LockedProjects
  items: JudgedItem[]
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
export function storedBytes({
  id,
  payload,
  payloadCut,
}: Pick<SourceEventRow, 'id' | 'payload' | 'payloadCut'>): Buffer {
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
