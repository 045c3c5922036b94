import { isDeepStrictEqual } from 'node:util'
import {
  closedAtCodehost,
  commentNotFound,
  descriptionReadOnly,
  managedByCodehost,
  mergedTask,
  taskWithReports,
  validationFailed,
} from '../errors/index.ts'
import { distinctIgnoringCase } from '../lib/distinct-ignoring-case.ts'
import type { TaskSource } from '../schemas/task.ts'
import type { TaskChange } from '../schemas/task-requests.ts'
import { currentStatus, NO_CLAIM, overriddenBy, refuseLostClaim } from './claim.ts'
import {
  isClosedAtCodehost,
  isClosedThere,
  isConnected,
  stateFor,
  type TaskConnection,
  writesState,
} from './codehost/write-back.ts'
import { distinctIds } from './dependencies.ts'
import type { ActorRef } from './new-task.ts'
import { priorityOf, rankOf } from './priority.ts'
import type { Destination, StoredTask, TaskUpdate } from './task.ts'
import { isLong, MANAGED_FIELDS } from './task-fields.ts'
import { isDecision, snoozeOf } from './triage.ts'

/** The columns to write and the activity of a change. Undefined when nothing changes. */
export interface ChangeOutcome {
  update: TaskUpdate
  activities: {
    type: 'task.updated' | 'task.completed' | 'task.reopened'
    metadata: Record<string, unknown>
  }[]
  /** The connection that the new state of an issue is written to, unless the issue has that state already. */
  stateWrite?: { connection: TaskConnection; isNeeded: boolean }
}

interface RequestedChange {
  change: TaskChange
  /** The list that `change.listId` names. */
  moveTo: Destination | undefined
  /** What the comment that `change.question` names asks. */
  asked?: AskedQuestion | undefined
  actor: Pick<ActorRef, 'type' | 'id'>
  /** What the change came through. */
  channel: TaskSource
  /** The claim under which the change is made. */
  claimNumber?: number | undefined
  /** Of the task's project, if any. */
  connection: TaskConnection | undefined
  /** Whether the change arrives from another system, which decides nothing. */
  arrival?: Arrival | undefined
  now: Date
}

export interface AskedQuestion {
  taskId: string
  question: NonNullable<StoredTask['question']>
}

/** What a change that arrives from another system does to the triage of a task. */
export interface Arrival {
  /** Whether tasks that arrive in the task's project are to be triaged, and so those that are reopened. */
  isTriageOn: boolean
}

/**
 * Decides a change of a task.
 * @throws managed_by_codehost or description_read_only for a field that the connected repository or the source owns;
 * closed_at_codehost for reopening what is closed there; merge_conflict for the status of a merged task, and for another
 * project of a task that is merged or has reports; claim_lost for a change under a claim that has ended; task_claimed for
 * one of an assistant that does not name the claim; comment_not_found for a question that no comment of the task asks.
 */
export function decideChange(
  task: StoredTask,
  { change, moveTo, asked, actor, channel, claimNumber, connection, arrival, now }: RequestedChange,
): ChangeOutcome | undefined {
  const before = { ...task, status: currentStatus(task) }
  const changed = changedColumns(before, { change, moveTo, asked })
  const names = Object.keys(changed) as (keyof typeof changed)[]
  refuseLostClaim(task, { claimNumber, actor, channel, isChange: names.length > 0 })
  if (names.length === 0) return undefined
  refuseForeignFields(task, { names, channel, connection })
  // One that was reopened only here so far may be closed again as it was.
  const isClosedAgain = changed.status === 'done' && writesState(task, connection)
  if (names.includes('closedReason') && isClosedThere(task, connection) && !isClosedAgain)
    throw managedByCodehost(['closedReason'])
  refuseMerged(task, names)

  const update: TaskUpdate = {
    ...changed,
    ...(changed.status && task.claimedByType !== null && NO_CLAIM),
    ...triageAfter(before, { change, changed, arrival }),
    ...(changed.status === 'done' && { question: null }),
    updatedAt: now,
    version: task.version + 1,
  }
  const activities: ChangeOutcome['activities'] = []
  const overridden = claimNumber === undefined ? overriddenBy(actor, task) : {}
  if (changed.status === 'done') update.completedAt = now
  else if (changed.status) update.completedAt = null

  const isCompletion = changed.status === 'done'
  const isReopening = changed.status !== undefined && task.status === 'done'
  if (isReopening) {
    if (isClosedAtCodehost(task, connection)) throw closedAtCodehost(task.codehostKind)
    if (task.closedReason !== null) update.closedReason = null
  }
  // These have an activity of their own.
  const isOfStatus = (name: string) => name === 'status' || name === 'closedReason'
  const logged = names.filter((name) => !(isOfStatus(name) && (isCompletion || isReopening)))
  if (logged.length > 0) {
    activities.push({
      type: 'task.updated',
      metadata: {
        changes: Object.fromEntries(
          logged.map((name) => [name, difference(name, { task: before, changed })]),
        ),
        ...overridden,
      },
    })
  }
  if (isCompletion) {
    const reason = changed.closedReason && { closedReason: changed.closedReason }
    activities.push({ type: 'task.completed', metadata: { from: before.status, ...reason, ...overridden } })
  }
  if (isReopening) activities.push({ type: 'task.reopened', metadata: { to: changed.status } })
  if (!(isCompletion || isReopening) || !writesState(task, connection)) return { update, activities }
  const isNeeded = stateFor({ ...task, status: changed.status ?? task.status }) !== task.codehostState
  return { update, activities, stateWrite: { connection, isNeeded } }
}

/** What a change implies for the triage of a task, unless it says so itself. */
function triageAfter(
  task: StoredTask,
  {
    change,
    changed,
    arrival,
  }: { change: TaskChange; changed: Partial<StoredTask>; arrival: Arrival | undefined },
): Pick<TaskUpdate, 'triaged' | 'snoozedUntil'> {
  const isDone = (changed.status ?? task.status) === 'done'
  const isReopening = task.status === 'done' && !isDone
  const implied: Pick<TaskUpdate, 'triaged' | 'snoozedUntil'> = {}
  if (change.triaged === undefined || isDone) {
    if (!arrival && isDecision(Object.keys(changed))) implied.triaged = true
    if (arrival?.isTriageOn && isReopening) implied.triaged = false
  }
  if (changed.status === 'done') implied.snoozedUntil = null
  return implied
}

/**
 * A reason is given with the status that it is about.
 * @throws validation_failed
 */
export function refuseLoneReason({ status, closedReason }: TaskChange, path = '/closedReason'): void {
  if (closedReason === undefined || status === 'done') return
  throw validationFailed([{ path, code: 'conflict', message: 'is only allowed with the status done' }])
}

export const READ_ONLY_DESCRIPTIONS: Record<TaskSource, boolean> = {
  api: true,
  codehost: true,
  analytics: true,
  dashboard: false,
  assistant: false,
  webhook: false,
}

export const isDescriptionReadOnly = (source: TaskSource) => READ_ONLY_DESCRIPTIONS[source]

function changedColumns(
  task: StoredTask,
  { change, moveTo, asked }: Pick<RequestedChange, 'change' | 'moveTo' | 'asked'>,
) {
  const {
    priority,
    labels,
    assignees,
    blockedBy,
    triaged,
    snoozedUntil,
    question,
    listId: _,
    ...same
  } = change
  const isDone = (change.status ?? task.status) === 'done'
  // Tasks of another project don't block it.
  const isMove = moveTo !== undefined && moveTo.projectId !== task.projectId
  const blockers = blockedBy ?? (isMove ? [] : undefined)
  const target = {
    ...same,
    ...(labels && { labels: distinctIgnoringCase(labels) }),
    ...(assignees && { assignees: distinctIgnoringCase(assignees) }),
    ...(blockers && { blockedBy: distinctIds(blockers) }),
    ...(priority && { priority: rankOf(priority) }),
    // A task that is done counts as triaged, and is not put off.
    ...(triaged !== undefined && !isDone && { triaged }),
    ...(snoozedUntil !== undefined && !(isDone && snoozedUntil) && { snoozedUntil: snoozeOf(change) }),
    ...(question !== undefined &&
      !(isDone && question) && { question: questionOf(task, { question, asked }) }),
    ...(moveTo && { listId: moveTo.listId, projectId: moveTo.projectId }),
  }
  return Object.fromEntries(
    Object.entries(target).filter(
      ([name, value]) => !isDeepStrictEqual(value, task[name as keyof StoredTask]),
    ),
  ) as Partial<typeof target>
}

function questionOf(
  { id }: StoredTask,
  { question, asked }: Pick<TaskChange, 'question'> & Pick<RequestedChange, 'asked'>,
): StoredTask['question'] {
  if (!question) return null
  if (asked?.taskId !== id) throw commentNotFound(question.commentId)
  return asked.question
}

function refuseForeignFields(
  task: StoredTask,
  { names, channel, connection }: { names: string[] } & Pick<RequestedChange, 'channel' | 'connection'>,
) {
  // Without the connection, no sync would bring a change that is made at the code host.
  if (isConnected(task, connection)) {
    const foreign = names.filter((name) => MANAGED_FIELDS.includes(name))
    if (foreign.length > 0) throw managedByCodehost(foreign)
  }
  if (!names.includes('description')) return
  // It came over the API, and so may another one.
  const mayChange = !isDescriptionReadOnly(task.source) || (task.source === 'api' && channel === 'api')
  if (!mayChange) throw descriptionReadOnly(task.source)
}

/** A report is done and stays in the project of its target. */
function refuseMerged({ id, mergedInto, reportCount }: StoredTask, names: string[]) {
  const isMove = names.includes('projectId')
  const isOfStatus = names.includes('status') || names.includes('closedReason')
  if (mergedInto !== null && (isMove || isOfStatus)) throw mergedTask({ id, mergedInto })
  if (reportCount > 0 && isMove) throw taskWithReports(id)
}

/** The texts that a change would write: those of a task are compared with them where they are stored. */
export const longTextsOf = ({ description, notes }: Pick<TaskChange, 'description' | 'notes'>): string[] =>
  [description, notes].filter((text) => typeof text === 'string')

function difference(
  name: string,
  { task, changed }: { task: StoredTask; changed: Record<string, unknown> },
): unknown {
  // The activity log does not store a second copy.
  if (isLong(name)) return 'changed'
  const loggedValue =
    name === 'priority' ? (rank: unknown) => priorityOf(rank as number) : (value: unknown) => value
  return { from: loggedValue(task[name as keyof StoredTask]), to: loggedValue(changed[name]) }
}
