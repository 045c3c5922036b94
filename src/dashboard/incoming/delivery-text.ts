import type { Schema } from '../api/client.ts'
import { plural } from '../lib/plural.ts'

export type Delivery = Schema<'Delivery'>
type Outcome = Delivery['outcome']

export const OUTCOMES: Record<Outcome, string> = {
  accepted: 'Accepted',
  updated: 'Updated',
  ignored: 'Ignored',
  filtered: 'Filtered',
  rejected: 'Rejected',
  pending: 'Pending',
  failed: 'Failed',
}
export const OUTCOME_COLOURS: Record<Outcome, string> = {
  accepted: 'green',
  updated: 'green',
  ignored: 'gray',
  filtered: 'gray',
  rejected: 'red',
  pending: 'yellow',
  failed: 'red',
}

/** What feedback says: its sentiment and note; the task of a source; or `Issue #12 closed`. Else, what is known of it. */
export function titleOf(delivery: Delivery): string {
  const { receiver, title, senderId, outcome, tasks } = delivery
  if (receiver === 'codehost') return changeIn(delivery)
  if (receiver === 'source') return tasksIn(delivery)
  if (tasks.length > 0) return title ?? plural(1, 'task')
  return title ?? senderId ?? (outcome === 'ignored' ? 'Another event' : 'An event')
}

/** Without a title, the first one was deleted. */
function tasksIn({ title, tasks }: Delivery): string {
  if (tasks.length === 0) return 'No tasks'
  const first = title ?? plural(1, 'task')
  return tasks.length === 1 ? first : `${first} and ${plural(tasks.length - 1, 'other task')}`
}

function changeIn({ event, number }: Delivery): string {
  const [name = '', action] = (event ?? '').split('.')
  if (name === 'ping') return 'Webhook test'
  const what = EVENTS[name] ?? name
  return [what, number !== null && `#${number}`, action?.replaceAll('_', ' ')].filter(Boolean).join(' ')
}

const EVENTS: Record<string, string> = {
  issues: 'Issue',
  pull_request: 'Pull request',
  issue_comment: 'Comment on',
  repository: 'Repository',
}
