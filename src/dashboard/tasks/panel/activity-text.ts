import type { Activity } from '../../api/queries.ts'
import { clockTime } from '../../components/clock-time.ts'
import { plural } from '../../lib/plural.ts'
import { fieldName } from '../field-names.ts'
import { PRIORITIES, STATUSES } from '../filters.ts'

/** The text of an activity, after the name of its actor. */
export function activityText(activity: Activity): string {
  const { overriddenClaim } = activity.metadata as { overriddenClaim?: { by: { name: string } } }
  const text = textOf(activity)
  return overriddenClaim ? `${text} (overrode the claim of ${overriddenClaim.by.name})` : text
}

function textOf({ type, message, metadata, actor }: Activity): string {
  const isOfCodehost = actor.type === 'codehost'
  switch (type) {
    case 'task.created':
      return isOfCodehost ? 'imported the task' : 'created the task'
    case 'task.completed':
      if (metadata.closedReason === 'not_planned') return 'closed the task as not planned'
      return isOfCodehost ? 'closed the task' : 'marked the task done'
    case 'task.reopened':
      return metadata.to === 'in_progress' ? 'reopened the task and started it' : 'reopened the task'
    case 'task.deleted':
      return 'deleted the task'
    case 'task.restored':
      return 'restored the task'
    case 'task.merged':
      return 'merged the task into another one'
    case 'task.unmerged':
      return metadata.to === 'done' ? 'unmerged the task' : 'unmerged the task, which reopened it'
    case 'task.claimed':
      return 'claimed the task'
    case 'task.claim_released':
      return 'released the task'
    case 'task.claim_expired':
      return 'opened the task, because the claim wasn’t renewed'
    case 'task.woken':
      return 'ended the snooze'
    case 'task.report_added':
      return `merged a task into this one (${plural(Number(metadata.reports), 'report')})`
    case 'task.report_removed':
      return `took back a merge (${plural(Number(metadata.reports), 'report')})`
    case 'task.write_back_failed':
      return `couldn’t be updated: ${message}`
    case 'task.write_back_dropped':
      return 'changed the issue meanwhile, so the change here was not written'
    case 'feedback.received':
      return message ?? 'sent feedback'
    case 'task.updated':
      return changesText(metadata)
    case 'comment.created':
      return 'commented'
    case 'comment.updated':
      return 'edited a comment'
    case 'comment.deleted':
      return metadata.author === actor.name ? 'deleted a comment' : `deleted a comment by ${metadata.author}`
    default:
      return [wordsOf(type), message].filter(Boolean).join(': ')
  }
}

/** Other systems log types of their own: `deploy.finished`. */
const wordsOf = (type: string) => type.replaceAll(/[._-]+/g, ' ').trim()

/** When it happened: a sync learns later when an item was closed at the code host. */
export const timeOf = ({ type, metadata, createdAt }: Activity): string =>
  type === 'task.completed' && typeof metadata.completedAt === 'string' ? metadata.completedAt : createdAt

function changesText({ changes, commentId }: Activity['metadata']): string {
  if (typeof changes !== 'object' || changes === null) return 'edited the task'
  const parts = Object.entries(changes)
    .filter(([name]) => name !== 'projectId' || !('listId' in changes))
    .map(([name, change]) =>
      name === 'question' && commentId !== undefined ? 'answered the question' : changeText(name, change),
    )
  return parts.join(', ') || 'edited the task'
}

function changeText(name: string, change: unknown): string {
  if (typeof change !== 'object' || change === null) return `changed the ${fieldName(name)}`
  const { from, to } = change as { from: unknown; to: unknown }
  if (name === 'priority') return `set the priority to ${displayName(PRIORITIES, to)}`
  if (name === 'status') return `set the status to ${displayName(STATUSES, to)}`
  if (name === 'closedReason' && to === 'not_planned') return 'set the status to not planned'
  if (name === 'closedReason' && to === 'completed') return 'set the status to done'
  if (name === 'triaged') return to === true ? 'accepted the task' : 'sent the task back to triage'
  if (name === 'snoozedUntil')
    return to === null ? 'ended the snooze' : `snoozed the task until ${clockTime(String(to))}`
  if (name === 'question') return to === null ? 'ended the question' : 'asked a question'
  if (name === 'isDraft') return to === true ? 'converted it to a draft' : 'marked it as ready for review'
  if (name === 'listId' || name === 'projectId') return 'moved the task to another list'
  if (Array.isArray(from) && Array.isArray(to)) {
    const added = to.filter((value) => !from.includes(value))
    const removed = from.filter((value) => !to.includes(value))
    if (name === 'blockedBy') return blockersText(added.length, removed.length)
    const parts = [
      added.length > 0 && `added ${added.join(', ')}`,
      removed.length > 0 && `removed ${removed.join(', ')}`,
    ]
    return `${parts.filter(Boolean).join(' and ')} (${fieldName(name)})`
  }
  return `changed the ${fieldName(name)}`
}

/** Without their titles, which the log does not have. */
function blockersText(added: number, removed: number): string {
  const parts = [
    added > 0 && `added ${plural(added, 'task')} that ${added === 1 ? 'blocks' : 'block'} it`,
    removed > 0 && `removed ${plural(removed, 'task')} that blocked it`,
  ]
  return parts.filter(Boolean).join(' and ') || 'changed the order of the tasks that block it'
}

const displayName = (names: Record<string, string>, value: unknown) =>
  (names[String(value)] ?? String(value)).toLowerCase()
