import type { Activity, TaskListItem } from '../api/queries.ts'

/** The new values of a row's fields that an activity names; it does not repeat long texts. */
export function rowChangeOf({ type, metadata }: Pick<Activity, 'type' | 'metadata'>): Partial<TaskListItem> {
  if (type === 'task.completed') {
    const closedReason = metadata.closedReason as TaskListItem['closedReason'] | undefined
    return { status: 'done', ...(closedReason && { closedReason }) }
  }
  if (type === 'task.reopened') return { status: metadata.to as TaskListItem['status'], closedReason: null }
  if (type === 'comment.created' || type === 'comment.deleted')
    return { commentCount: metadata.commentCount as number }
  if (type === 'task.claimed') return { status: 'in_progress' }
  if (type === 'task.claim_released' || type === 'task.claim_expired') return { status: 'open', claim: null }
  if (type === 'task.woken') return { triaged: false, snoozedUntil: null }
  if (type === 'task.merged') return { status: 'done', mergedInto: metadata.into as string }
  if (type === 'task.unmerged') return { status: metadata.to as TaskListItem['status'], mergedInto: null }
  if (type === 'task.report_added' || type === 'task.report_removed')
    return { reports: metadata.reports as number }
  if (type !== 'task.updated') return {}
  const changes = Object.entries(metadata.changes ?? {}).filter(([, change]) => isDifference(change))
  return Object.fromEntries(changes.map(([name, { to }]) => [name, to]))
}

const isDifference = (change: unknown) => typeof change === 'object' && change !== null && 'to' in change
