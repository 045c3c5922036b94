import type { Activity, TaskListItem } from '../api/queries.ts'

type Change = Partial<TaskListItem>

/** The new values of a row's fields that an activity names or implies; it does not repeat long texts. */
export function rowChangeOf(activity: Pick<Activity, 'type' | 'metadata' | 'actor'>): Change {
  const { type, metadata } = activity
  if (type === 'task.completed') {
    const closedReason = metadata.closedReason as TaskListItem['closedReason'] | undefined
    return { ...DONE, ...(closedReason && { closedReason }) }
  }
  if (type === 'task.reopened') return { status: metadata.to as TaskListItem['status'], closedReason: null }
  if (type === 'comment.created' || type === 'comment.deleted')
    return { commentCount: metadata.commentCount as number, ...decisionOf(activity) }
  if (type === 'task.claimed') return { status: 'in_progress', ...DECIDED }
  if (type === 'task.claim_released' || type === 'task.claim_expired') return { status: 'open', claim: null }
  if (type === 'task.woken') return { triaged: metadata.triaged === true, snoozedUntil: null }
  if (type === 'task.merged') return { ...DONE, mergedInto: metadata.into as string }
  if (type === 'task.unmerged') return { status: metadata.to as TaskListItem['status'], mergedInto: null }
  if (type === 'task.report_added' || type === 'task.report_removed')
    return { reports: metadata.reports as number }
  if (type !== 'task.updated') return {}
  const changes = Object.entries(metadata.changes ?? {}).filter(([, change]) => isDifference(change))
  return { ...decisionOf(activity), ...Object.fromEntries(changes.map(([name, { to }]) => [name, to])) }
}

const DECIDED: Change = { triaged: true }
const DONE: Change = { status: 'done', ...DECIDED, snoozedUntil: null, question: null }

/** Whoever changes one of these decides about the task. */
const DECISIONS = ['status', 'priority', 'listId', 'labels', 'assignees']

/** Whether somebody has decided about the task, as far as its activity tells. */
function decisionOf({ type, metadata, actor }: Pick<Activity, 'type' | 'metadata' | 'actor'>): Change {
  if (type === 'comment.created') return actor.type === 'codehost' ? {} : DECIDED
  // A key's change may be a create that is repeated, which is no decision.
  if (type !== 'task.updated' || !['session', 'user', 'assistant'].includes(actor.type)) return {}
  return Object.keys(metadata.changes ?? {}).some((name) => DECISIONS.includes(name)) ? DECIDED : {}
}

const isDifference = (change: unknown) => typeof change === 'object' && change !== null && 'to' in change
