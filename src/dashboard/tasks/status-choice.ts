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

/** The fields that a change sets: a task that is opened loses its reason. */
export const effectOf = (change: Schema<'TaskChange'>) =>
  change.status && change.status !== 'done' ? { ...change, closedReason: null } : change
