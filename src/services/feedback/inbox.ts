import { orderById } from '../../domain/cursor.ts'
import { readEvent } from '../../domain/feedback/event.ts'
import { readAccepted } from '../../domain/feedback/reading.ts'
import { decideRoute, routingFieldsOf } from '../../domain/feedback/routing.ts'
import type { Operations } from '../../domain/operation.ts'
import { decideChange } from '../../domain/task-change.ts'
import { eventNotFound, eventNotReplayable, overtaken } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { FeedbackRow } from '../../repositories/feedback/events.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { InboxEvent, InboxEventQuery } from '../../schemas/feedback.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import { readPage } from '../page.ts'
import { retryDecision } from '../retry-decision.ts'
import { writableProject } from '../writable-project.ts'
import {
  accept,
  asRouting,
  feedbackListOf,
  projectAsDecided,
  routeArrivals,
  storedRouting,
} from './delivery.ts'
import { findTable } from './routing.ts'

/** An event has a payload of up to 256 KiB. */
const MAX_AT_ONCE = 10

export const feedbackInboxOperations = {
  list: { scope: 'admin', isServiceWide: true },
  get: { scope: 'admin', isServiceWide: true },
  replay: { scope: 'admin', isServiceWide: true },
} satisfies Operations<ReturnType<typeof feedbackInboxService>>

/** The inbox: all deliveries and their outcome. */
export function feedbackInboxService({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const { feedback } = repos.within(everywhere)

  return {
    /** Newest first. */
    async list({ outcome, sourceId, ...request }: InboxEventQuery) {
      return readPage({
        order: orderById('feedback'),
        request,
        maxAtOnce: MAX_AT_ONCE,
        async read(before, limit) {
          const rows = await feedback.list({ outcome, sourceId, before, limit })
          return rows.map(toFeedbackEvent)
        },
      })
    },

    /** @throws event_not_found */
    async get(id: string): Promise<InboxEvent> {
      const row = await feedback.find(id)
      if (!row) throw eventNotFound(id)
      return toFeedbackEvent(row)
    },

    /**
     * Processes an event again: a rejected one as new; the task of an accepted one moves where the current rules route it.
     * @throws event_not_found, event_not_replayable, project_archived
     */
    async replay(caller: Caller, id: string): Promise<InboxEvent> {
      return redacted(() =>
        retryDecision(() =>
          repos.within(everywhere).transaction(async (repos) => {
            // Read without a lock: projects are locked before inbox rows, and are only known after the decision.
            const row = await repos.feedback.find(id)
            if (!row) throw eventNotFound(id)
            if (row.outcome === 'accepted') await moveTask(repos, { row, caller })
            else await retryRejected(repos, row)
            return toFeedbackEvent((await repos.feedback.find(id)) ?? row)
          }),
        ),
      )
    },
  }

  async function retryRejected(repos: BoundRepositories, row: FeedbackRow): Promise<void> {
    if (row.payload === null || row.payloadCut) throw eventNotReplayable(row.id)
    const reading = readEvent(JSON.parse(row.payload))
    if (reading.outcome !== 'accepted') {
      await lockAsSeen(repos, row)
      const errors = reading.outcome === 'rejected' ? reading.errors : row.errors
      return repos.feedback.update(row.id, { errors })
    }
    const event = readAccepted(reading.event)
    const { id, sourceId, payload, payloadCut, receivedAt, duplicates } = row
    const { dedupKey } = event
    const arrival = { id, sourceId, receivedAt: clock.now(), event, stored: { payload, payloadCut } }
    const accepted = await routeArrivals(repos, {
      clock,
      arrivals: [arrival],
      newListOf: (project) => feedbackListOf(repos, { clock, project }),
    })
    for (const { route } of accepted) await projectAsDecided(repos, { id: route.decision.project.id })
    await lockAsSeen(repos, row)
    // Deleted and inserted again, so that the unique index decides if the same event is delivered concurrently.
    await repos.feedback.delete(id)
    const asReceived = accepted.map((each) => ({ ...each, row: { ...each.row, receivedAt, duplicates } }))
    const created = await accept(repos, { clock, accepted: asReceived })
    if (created.has(id)) return
    const [before] = await repos.feedback.listByKeys([dedupKey])
    const { taskId = null, projectId = null, listId = null, routing = null } = before ?? {}
    const same = { taskId, projectId, listId, routing, outcome: 'accepted' as const, errors: null }
    await repos.feedback.insert({ ...row, ...same, dedupKey: null })
  }

  async function moveTask(
    repos: BoundRepositories,
    { row, caller }: { row: FeedbackRow; caller: Caller },
  ): Promise<void> {
    const seen = row.taskId === null ? undefined : await repos.tasks.find(row.taskId)
    const properties = seen && propertiesOf(row, seen)
    if (!seen || !properties) return
    const fields = routingFieldsOf(properties)
    const decision = decideRoute(fields, await findTable(repos.routing, [fields]))
    const { project } = decision
    if (project.id === seen.projectId) return

    await lockProjects(repos, { fromId: seen.projectId, toId: project.id })
    const listId = await feedbackListOf(repos, { clock, project })
    await lockAsSeen(repos, row)
    const task = await repos.tasks.findForUpdate(seen.id)
    if (task?.projectId !== seen.projectId) throw overtaken()
    const now = clock.now()
    const moveTo = { listId, projectId: project.id }
    const actor = actorOf(caller)
    const requested = { change: { listId }, moveTo, actor, connection: undefined, now }
    const outcome = decideChange(task, requested)
    if (!outcome) return
    await repos.tasks.update(task.id, outcome.update)
    const about = { taskId: task.id, projectId: project.id }
    await repos.activity.insert(
      outcome.activities.map(({ type, metadata }) =>
        activityRow(clock, { now, type, actor, ...about, metadata }),
      ),
    )
    await repos.feedback.update(row.id, { projectId: project.id, listId, routing: storedRouting(decision) })
  }
}

/** Locks both, in the same order as everywhere. */
async function lockProjects(
  repos: BoundRepositories,
  { fromId, toId }: { fromId: string; toId: string },
): Promise<void> {
  for (const id of [fromId, toId].sort()) {
    const lockProject = id === toId ? projectAsDecided : writableProject
    await lockProject(repos, { id, lock: 'update' })
  }
}

/** Locks an inbox row, unless its outcome has changed since the decision. */
async function lockAsSeen(repos: BoundRepositories, { id, outcome }: FeedbackRow): Promise<void> {
  const row = await repos.feedback.findForUpdate(id)
  if (row?.outcome !== outcome) throw overtaken()
}

/** The properties for routing: of the payload while it is stored whole, else those stored in the task. */
function propertiesOf({ payload, payloadCut }: FeedbackRow, { metadata }: TaskRow) {
  const reading = payload !== null && !payloadCut ? readEvent(JSON.parse(payload)) : undefined
  if (reading?.outcome === 'accepted') return reading.event.properties
  const { properties } = metadata as { properties?: unknown }
  return typeof properties === 'object' && properties !== null
    ? (properties as Record<string, unknown>)
    : undefined
}

const toFeedbackEvent = (row: FeedbackRow): InboxEvent => ({
  id: row.id,
  sourceId: row.sourceId,
  uuid: row.uuid,
  outcome: row.outcome,
  duplicates: row.duplicates,
  receivedAt: row.receivedAt.toISOString(),
  taskId: row.taskId,
  projectId: row.projectId,
  routing: row.routing === null ? null : asRouting(row.routing),
  errors: row.errors as InboxEvent['errors'],
  payload: row.payload === null || row.payloadCut ? row.payload : JSON.parse(row.payload),
  payloadCut: row.payloadCut,
})
