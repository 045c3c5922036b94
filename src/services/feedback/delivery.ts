import type { Reading } from '../../domain/feedback/event.ts'
import type { ReadEvent } from '../../domain/feedback/reading.ts'
import {
  decideRoute,
  type RoutingDecision,
  type RoutingProject,
  ruleLabel,
} from '../../domain/feedback/routing.ts'
import { ANALYTICS, newFeedbackTask } from '../../domain/feedback/task.ts'
import { AppError, conflict } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type DeliveryRow, newDelivery } from '../../repositories/deliveries/store.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { ProjectRow } from '../../repositories/projects.ts'
import { activityRow } from '../activity/row.ts'
import { writableProject } from '../writable-project.ts'
import { asReport, countNewReports, targetsOf } from './grouping.ts'
import { FEEDBACK_LIST, findTable } from './routing.ts'

/** An event before it becomes a task. */
export interface Arrival {
  /** The id of its delivery. */
  id: string
  sourceId: string | null
  receivedAt: Date
  event: ReadEvent
  /** What is stored of the payload. */
  stored: Pick<DeliveryRow, 'payload' | 'payloadCut'>
}

/** The destination of an event. */
interface Route {
  decision: RoutingDecision
  listId: string
}

/** An arrival with its delivery, and the id of its task. */
export interface Accepted {
  arrival: Arrival
  route: Route
  taskId: string
  row: DeliveryRow
}

/** A routing decision as a delivery stores it. */
export interface StoredRouting {
  ruleId: string | null
  ruleName: string | null
  matchedOn: RoutingDecision['matchedOn']
  explanation: string
}

/** Maximum length of the sender's identifier that is stored; deduplication uses a hash of all of it. */
const MAX_UUID_LENGTH = 255
/** Locks a project that a decision selected. The decision is made again if it was deleted or archived since. */
export async function projectAsDecided(...project: Parameters<typeof writableProject>): Promise<ProjectRow> {
  return writableProject(...project).catch((error) => {
    throw error instanceof AppError ? conflict(error) : error
  })
}

/**
 * Routes arrivals. Repeats are omitted if they would need a new list. Locks nothing: the decision's input may change
 * before it is written.
 */
export async function routeArrivals(
  repos: BoundRepositories,
  {
    clock,
    arrivals,
    newListOf,
  }: { clock: Clock; arrivals: Arrival[]; newListOf: (project: RoutingProject) => Promise<string> },
): Promise<Accepted[]> {
  const fields = arrivals.map(({ event }) => event.fields)
  const table = await findTable(repos.routing, fields)
  const decided = arrivals.map((arrival, index) => ({
    arrival,
    decision: decideRoute(fields[index] ?? {}, table),
  }))
  const lists = new Map(table.projects.flatMap(({ id, listId }) => (listId ? [[id, listId] as const] : [])))
  const withoutList = decided.filter(({ decision }) => !lists.has(decision.project.id))
  for (const project of await projectsOfNew(repos, withoutList)) {
    lists.set(project.id, await newListOf(project))
  }
  return decided.flatMap(({ arrival, decision }) => {
    const listId = lists.get(decision.project.id)
    if (!listId) return []
    const route = { decision, listId }
    const taskId = clock.newId(arrival.receivedAt)
    return { arrival, route, taskId, row: acceptedRow(arrival, { route, taskId }) }
  })
}

/** The projects of new events, in the order in which projects are locked everywhere. */
async function projectsOfNew(
  repos: BoundRepositories,
  decided: { arrival: Arrival; decision: RoutingDecision }[],
): Promise<RoutingProject[]> {
  if (decided.length === 0) return []
  const known = await repos.deliveries.listByKeys(decided.map(({ arrival }) => arrival.event.dedupKey))
  const projects = decided
    .filter(({ arrival }) => !known.some(({ dedupKey }) => dedupKey === arrival.event.dedupKey))
    .map(({ decision }) => decision.project)
  return [...new Set(projects)].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The project's feedback list; created if there is none. */
export async function feedbackListOf(
  repos: BoundRepositories,
  { clock, project: { id, listId } }: { clock: Clock; project: Pick<RoutingProject, 'id' | 'listId'> },
): Promise<string> {
  if (listId) return listId
  await projectAsDecided(repos, { id, lock: 'update' })
  const present = await repos.lists.listForUpdate(id)
  const [oldest] = present
    .filter(({ name, isClosing }) => name === FEEDBACK_LIST && !isClosing)
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
  if (oldest) return oldest.id
  const now = clock.now()
  const list = {
    id: clock.newId(now),
    projectId: id,
    name: FEEDBACK_LIST,
    position: present.length,
    isDefault: false,
    openCount: 0,
    isClosing: false,
    createdAt: now,
  }
  await repos.lists.insert(list)
  const metadata = { listId: list.id, name: list.name, position: list.position }
  await repos.activity.insert([
    activityRow(clock, { now, type: 'list.created', actor: ANALYTICS, projectId: id, metadata }),
  ])
  await repos.configurationChanges.announceProject(id)
  return list.id
}

/**
 * Creates tasks of accepted events; returns the ids of their deliveries, without those of repeats. Needs a transaction if
 * one of them `isGroupable`.
 */
export async function accept(
  repos: BoundRepositories,
  { clock, accepted }: { clock: Clock; accepted: Accepted[] },
): Promise<Set<string>> {
  if (accepted.length === 0) return new Set()
  const targets = await targetsOf(repos, accepted)
  const tasks = accepted.map(({ arrival: { receivedAt, event }, taskId, route: { decision, listId } }) => {
    const { id: projectId, triage } = decision.project
    const destination = { listId, projectId, isTriageOn: triage === 'on' }
    const task = newFeedbackTask(event.task, { id: taskId, now: receivedAt, destination })
    return asReport(task, targets.get(taskId))
  })
  const activities = accepted.flatMap(({ arrival: { receivedAt }, row, taskId, route: { decision } }) => {
    const { ruleId, ruleName, matchedOn } = storedRouting(decision)
    const about = { taskId, projectId: decision.project.id }
    const metadata = { eventId: row.id, ruleId, ruleName, matchedOn }
    return [
      activityRow(clock, { now: receivedAt, type: 'task.created', actor: ANALYTICS, ...about }),
      activityRow(clock, {
        now: receivedAt,
        type: 'feedback.received',
        actor: ANALYTICS,
        ...about,
        metadata,
      }),
    ]
  })
  const ids = await repos.feedback.accept({ rows: accepted.map(({ row }) => row), tasks, activities })
  if (!ids) throw conflict()
  const made = new Set(accepted.flatMap(({ row, taskId }) => (ids.has(row.id) ? taskId : [])))
  const reports = tasks.flatMap((task) => {
    const into = targets.get(task.id)
    return into !== undefined && made.has(task.id) ? { task, into } : []
  })
  if (!(await countNewReports(repos, { clock, reports }))) throw conflict()
  return ids
}

export const storedRouting = ({ rule, matchedOn, explanation }: RoutingDecision): StoredRouting => ({
  ruleId: rule?.id ?? null,
  ruleName: rule && ruleLabel(rule),
  matchedOn,
  explanation,
})

/** Cast: only values of `storedRouting` are written to the column. */
export const asRouting = (json: unknown) => json as StoredRouting

/** The initial outcome of a delivery. */
type Judged = { outcome: 'accepted'; uuid: string | null } | Exclude<Reading, { outcome: 'accepted' }>

/** Feedback as it is stored, without a task. */
export function feedbackDelivery({
  reading,
  ...given
}: Pick<DeliveryRow, 'id' | 'sourceId' | 'receivedAt'> & { reading: Judged }): DeliveryRow {
  const uuid = reading.uuid?.slice(0, 2 * MAX_UUID_LENGTH) ?? null
  return newDelivery({
    ...given,
    receiver: 'feedback',
    senderId: uuid && [...uuid].slice(0, MAX_UUID_LENGTH).join('').toWellFormed(),
    outcome: reading.outcome,
    errors: reading.outcome === 'rejected' ? reading.errors : null,
  })
}

function acceptedRow(
  arrival: Arrival,
  { route: { decision, listId }, taskId }: Pick<Accepted, 'route' | 'taskId'>,
): DeliveryRow {
  const { id, sourceId, receivedAt, event, stored } = arrival
  return {
    ...feedbackDelivery({ id, sourceId, receivedAt, reading: { outcome: 'accepted', uuid: event.uuid } }),
    ...stored,
    dedupKey: event.dedupKey,
    tasks: [{ taskId, created: true }],
    projectId: decision.project.id,
    listId,
    routing: storedRouting(decision),
  }
}
