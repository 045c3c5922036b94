import type { Schema } from '../api/client.ts'

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

/** What feedback says: its sentiment and note; or `Issue #12 closed`. Without one, what is known of the delivery. */
export function titleOf(delivery: Delivery): string {
  const { receiver, title, senderId, outcome } = delivery
  if (receiver === 'codehost') return changeIn(delivery)
  return title ?? senderId ?? (outcome === 'ignored' ? 'Another event' : 'An event')
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
