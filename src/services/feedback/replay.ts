import { readEvent } from '../../domain/feedback/event.ts'
import { readAccepted } from '../../domain/feedback/reading.ts'
import { decideRoute, routingFieldsOf } from '../../domain/feedback/routing.ts'
import { requireAllowed } from '../../domain/operation.ts'
import { decideChange } from '../../domain/task-change.ts'
import { conflict, deliveryNotFound, deliveryNotReplayable } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DeliveryRow } from '../../repositories/deliveries/store.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import { tasksIn } from '../deliveries/index.ts'
import { retryDecision } from '../retry-decision.ts'
import { writableProject } from '../writable-project.ts'
import { accept, feedbackListOf, projectAsDecided, routeArrivals, storedRouting } from './delivery.ts'
import { findTable } from './routing.ts'

/** Processes feedback again: what was rejected as new; an accepted task moves where the current rules route it. */
export function feedbackReplay({ repos, clock }: { repos: Repositories; clock: Clock }) {
  /** @throws insufficient_scope, delivery_not_found, delivery_not_replayable, project_archived */
  return async function replay(caller: Caller, { id }: Pick<DeliveryRow, 'id'>): Promise<void> {
    // It may go to any project.
    requireAllowed(caller, { scope: 'admin', isServiceWide: true })
    return redacted(() =>
      retryDecision(() =>
        repos.within(everywhere).transaction(async (repos) => {
          // Read without a lock: projects are locked before deliveries, and are only known after the decision.
          const row = await repos.deliveries.find(id)
          if (!row) throw deliveryNotFound(id)
          if (row.outcome === 'accepted') await moveTask(repos, { row, caller })
          else await retryRejected(repos, row)
        }),
      ),
    )
  }

  async function retryRejected(repos: BoundRepositories, row: DeliveryRow): Promise<void> {
    if (row.payload === null || row.payloadCut) throw deliveryNotReplayable(row.id)
    const reading = readEvent(JSON.parse(row.payload))
    if (reading.outcome !== 'accepted') {
      await lockAsSeen(repos, row)
      const errors = reading.outcome === 'rejected' ? reading.errors : row.errors
      await repos.deliveries.update(row.id, { errors })
      return
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
    await repos.deliveries.delete(id)
    const asReceived = accepted.map((each) => ({ ...each, row: { ...each.row, receivedAt, duplicates } }))
    const created = await accept(repos, { clock, accepted: asReceived })
    if (created.has(id)) return
    const [before] = await repos.deliveries.listByKeys([dedupKey])
    const { tasks = [], projectId = null, listId = null, routing = null } = before ?? {}
    const same = { tasks, projectId, listId, routing, outcome: 'accepted' as const, errors: null }
    await repos.deliveries.insert([{ ...row, ...same, dedupKey: null }])
  }

  async function moveTask(
    repos: BoundRepositories,
    { row, caller }: { row: DeliveryRow; caller: Caller },
  ): Promise<void> {
    const taskId = tasksIn(row)[0]?.taskId
    const seen = taskId === undefined ? undefined : await repos.tasks.find(taskId)
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
    if (task?.projectId !== seen.projectId) throw conflict()
    const now = clock.now()
    const moveTo = { listId, projectId: project.id }
    const actor = actorOf(caller)
    const { channel } = caller
    // Today's routing decides the list, and nobody about the task.
    const arrival = { isTriageOn: false }
    const requested = { change: { listId }, moveTo, actor, channel, connection: undefined, arrival, now }
    const outcome = decideChange(task, requested)
    if (!outcome) return
    await repos.tasks.update(task.id, outcome.update)
    const about = { taskId: task.id, projectId: project.id }
    await repos.activity.insert(
      outcome.activities.map(({ type, metadata }) =>
        activityRow(clock, { now, type, actor, ...about, metadata }),
      ),
    )
    await repos.deliveries.update(row.id, { projectId: project.id, listId, routing: storedRouting(decision) })
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

/** Locks a delivery, unless its outcome has changed since the decision. */
async function lockAsSeen(repos: BoundRepositories, { id, outcome }: DeliveryRow): Promise<void> {
  const row = await repos.deliveries.findForUpdate(id)
  if (row?.outcome !== outcome) throw conflict()
}

/** The properties for routing: of the payload while it is stored whole, else those stored in the task. */
function propertiesOf({ payload, payloadCut }: DeliveryRow, { metadata }: TaskRow) {
  const reading = payload !== null && !payloadCut ? readEvent(JSON.parse(payload)) : undefined
  if (reading?.outcome === 'accepted') return reading.event.properties
  const { properties } = metadata as { properties?: unknown }
  return typeof properties === 'object' && properties !== null
    ? (properties as Record<string, unknown>)
    : undefined
}
