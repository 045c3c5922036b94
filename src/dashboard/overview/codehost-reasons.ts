import type { Path } from '../navigation/link.tsx'
import type { Search } from '../navigation/search-params.ts'

interface ConnectionFix {
  /** The label of what leads there. */
  label: string
  to: Path
  search: Search
}

/** Where the connection of a project is edited, if that is what mends an error of the code host. */
export function connectionFix(code: string, projectId: string): ConnectionFix | undefined {
  const label = LABELS[code]
  return label === undefined
    ? undefined
    : { label, to: `/projects/${projectId}`, search: { edit: 'connection' } }
}

const LABELS: Record<string, string> = {
  codehost_token_rejected: 'Renew token',
  codehost_token_unreadable: 'Renew token',
  codehost_access_denied: 'Renew token',
  codehost_repository_not_found: 'Edit connection',
  codehost_url_not_allowed: 'Edit connection',
}

/** Why a change of the code host was not applied, or changed nothing. */
export const CODEHOST_REASONS: Record<string, string> = {
  outdated: 'Something newer was stored',
  unchanged: 'Nothing changed',
  deleted_here: 'Its task was deleted here',
  event_ignored: 'This event is not used',
  action_ignored: 'This action is not used',
  other_repository: 'It is about another repository',
  comments_off: 'Comments are not synced',
  project_archived: 'The project is archived',
  invalid_payload: 'The payload has no issue, pull request or comment',
  rate_limited: 'The code host limits requests',
  codehost_unreachable: 'The code host did not respond as expected',
  codehost_token_rejected: 'The code host rejected the token',
  codehost_token_unreadable: 'The stored token cannot be decrypted',
  codehost_repository_not_found: 'The code host did not find the repository',
  codehost_access_denied: 'The token cannot read issues',
  codehost_url_not_allowed: 'This code host is not allowed',
  internal_error: 'An error occurred; the service log has details',
}
