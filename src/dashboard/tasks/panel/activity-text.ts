import type { Activity } from '../../api/queries.ts'
import { PRIORITIES, STATUSES } from '../filters.ts'

/** What an entry of the record says, after the name of who did it. */
export function activityText({ type, message, metadata }: Activity): string {
  switch (type) {
    case 'task.created':
      return 'created it'
    case 'task.completed':
      return 'marked it done'
    case 'task.reopened':
      return metadata.to === 'in_progress' ? 'took it up again' : 'opened it again'
    case 'task.deleted':
      return 'deleted it'
    case 'task.restored':
      return 'restored it'
    case 'feedback.received':
      return message ?? 'brought it as feedback'
    case 'task.updated':
      return changesOf(metadata.changes)
    default:
      return [type, message].filter(Boolean).join(': ')
  }
}

function changesOf(changes: unknown): string {
  if (typeof changes !== 'object' || changes === null) return 'changed it'
  const parts = Object.entries(changes)
    .filter(([name]) => name !== 'projectId' || !('listId' in changes))
    .map(([name, change]) => changeOf(name, change))
  return parts.join(', ') || 'changed it'
}

function changeOf(name: string, change: unknown): string {
  if (typeof change !== 'object' || change === null) return `changed the ${name}`
  const { from, to } = change as { from: unknown; to: unknown }
  if (name === 'priority') return `set the priority to ${nameIn(PRIORITIES, to)}`
  if (name === 'status') return `set it to ${nameIn(STATUSES, to)}`
  if (name === 'listId' || name === 'projectId') return 'moved it to another list'
  if (Array.isArray(from) && Array.isArray(to)) {
    const added = to.filter((value) => !from.includes(value))
    const removed = from.filter((value) => !to.includes(value))
    const words = [
      added.length > 0 && `added ${added.join(', ')}`,
      removed.length > 0 && `removed ${removed.join(', ')}`,
    ]
    return `${words.filter(Boolean).join(' and ')} (${name})`
  }
  return `changed the ${name}`
}

const nameIn = (names: Record<string, string>, value: unknown) =>
  (names[String(value)] ?? String(value)).toLowerCase()
