import type { Schema } from '../api/client.ts'

type Delivery = Schema<'Delivery'>

/** What a delivery of the code host reports: `Issue #12 closed`. */
export function deliveryTitle({ event }: Pick<Delivery, 'event'>, payload: unknown): string {
  const [name = '', action] = (event ?? '').split('.')
  if (name === 'ping') return 'Webhook test'
  const number = numberIn(payload)
  const what = NAMES[name] ?? name
  return [what, number !== undefined && `#${number}`, action?.replaceAll('_', ' ')].filter(Boolean).join(' ')
}

function numberIn(payload: unknown): number | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const { issue, pull_request: pull } = payload as Record<string, { number?: number } | undefined>
  return (issue ?? pull)?.number
}

const NAMES: Record<string, string> = {
  issues: 'Issue',
  pull_request: 'Pull request',
  issue_comment: 'Comment on',
  repository: 'Repository',
}

/** Why it was not applied, or changed nothing; undefined if there is nothing to say. */
export function deliveryReason({
  reason,
  outcome,
  attempts,
}: Pick<Delivery, 'reason' | 'outcome' | 'attempts'>) {
  if (reason === null) return undefined
  const text = REASONS[reason] ?? reason
  return outcome === 'pending' && attempts > 0
    ? `${text}, tried ${attempts === 1 ? 'once' : `${attempts} times`}`
    : text
}

const REASONS: Record<string, string> = {
  outdated: 'something newer was stored',
  unchanged: 'nothing changed',
  deleted_here: 'its task was deleted here',
  event_ignored: 'this event is not used',
  action_ignored: 'this action is not used',
  other_repository: 'it is about another repository',
  comments_off: 'comments are not synced',
  project_archived: 'the project is archived',
  invalid_payload: 'the payload has no issue, pull request or comment',
  rate_limited: 'the code host limits requests',
  codehost_unreachable: 'the code host did not respond as expected',
  codehost_token_rejected: 'the code host rejected the token',
  codehost_token_unreadable: 'the stored token cannot be decrypted',
  codehost_repository_not_found: 'the code host did not find the repository',
  codehost_access_denied: 'the token cannot read issues',
  codehost_url_not_allowed: 'this code host is not allowed',
  internal_error: 'an error occurred; the service log has details',
}
