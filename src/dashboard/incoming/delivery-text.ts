import type { Schema } from '../api/client.ts'
import { summaryOf } from '../settings/feedback-summary.ts'

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

/** What a payload says: the note of feedback, `Issue #12 closed`. Without one, what is known of the delivery. */
export function titleOf(delivery: Delivery, payload: unknown): string {
  return delivery.receiver === 'codehost' ? changeIn(delivery, payload) : summaryOf(delivery, payload)
}

function changeIn({ event }: Delivery, payload: unknown): string {
  const [name = '', action] = (event ?? '').split('.')
  if (name === 'ping') return 'Webhook test'
  const number = numberIn(payload)
  const what = EVENTS[name] ?? name
  return [what, number !== undefined && `#${number}`, action?.replaceAll('_', ' ')].filter(Boolean).join(' ')
}

function numberIn(payload: unknown): number | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const { issue, pull_request: pull } = payload as Record<string, { number?: number } | undefined>
  return (issue ?? pull)?.number
}

const EVENTS: Record<string, string> = {
  issues: 'Issue',
  pull_request: 'Pull request',
  issue_comment: 'Comment on',
  repository: 'Repository',
}
