import type { Schema } from '../api/client.ts'
import type { Task } from '../api/queries.ts'
import { STATUSES } from './filters.ts'

/** What a person sets as the status: not planned is done for that reason. */
export type StatusChoice = Task['status'] | 'not_planned'

type WithStatus = Pick<Task, 'status' | 'closedReason'>

export const STATUS_CHOICES: Record<StatusChoice, string> = { ...STATUSES, not_planned: 'Not planned' }

export const statusChoiceOf = ({ status, closedReason }: WithStatus): StatusChoice =>
  status === 'done' && closedReason === 'not_planned' ? 'not_planned' : status

/** Done keeps the reason of tasks that have one, so those that were not planned get another. */
export function changeToChoice(choice: StatusChoice, tasks: WithStatus[]): Schema<'TaskChange'> {
  if (choice === 'not_planned') return { status: 'done', closedReason: 'not_planned' }
  const hasNotPlanned = tasks.some((task) => statusChoiceOf(task) === 'not_planned')
  return choice === 'done' && hasNotPlanned
    ? { status: 'done', closedReason: 'completed' }
    : { status: choice }
}

/** Whoever changes one of these has decided about the task. */
export const DECISIONS = ['status', 'priority', 'listId', 'labels', 'assignees'] as const

/**
 * What is sent: somebody who sets what a task has already has decided about it all the same, which the service does not see.
 */
export function decided(change: Schema<'TaskChange'>, { triaged }: { triaged: boolean }) {
  const needsNothing = triaged || change.triaged !== undefined || !isDecision(change)
  return needsNothing ? change : { ...change, triaged: true }
}

const isDecision = (change: Schema<'TaskChange'>) => DECISIONS.some((name) => name in change)

/**
 * The fields that a change sets: a decision triages a task, one that is done is not snoozed and needs no answer, and one
 * that is opened loses its reason.
 */
export function effectOf(change: Schema<'TaskChange'>) {
  const implied = {
    ...(isDecision(change) && { triaged: true }),
    ...(change.status === 'done' && { snoozedUntil: null, question: null }),
  }
  const ofReopening = change.status && change.status !== 'done' ? { closedReason: null } : {}
  return Object.assign(implied, change, ofReopening)
}
