import type { Path } from '../navigation/link.tsx'
import type { Search } from '../navigation/search-params.ts'
import type { Delivery } from './delivery-text.ts'

interface Explanation {
  /** Why it made no task, or changed nothing, as a sentence. */
  reason: string
  /** What to do about it. */
  advice?: string
  action?: { label: string; to: Path; search: Search }
}

/** Undefined if there is nothing to say: it did what it should. */
export function explanationOf(delivery: Delivery): Explanation | undefined {
  return delivery.receiver === 'codehost' ? ofCodehost(delivery) : ofContent(delivery)
}

/** Of feedback, or of a source. */
function ofContent({ receiver, sourceId, outcome, attempts }: Delivery): Explanation | undefined {
  const isFeedback = receiver === 'feedback'
  const openSource = sourceId !== null && {
    action: { label: 'Open source', to: '/settings/sources' as const, search: { source: sourceId } },
  }
  switch (outcome) {
    case 'ignored':
      return { reason: 'Only feedback_submitted events become tasks.' }
    case 'filtered':
      return { reason: 'The filter of the source leaves it out.', ...openSource }
    case 'pending':
      return { reason: 'The source has used up its share of time. It is processed later, by itself.' }
    case 'rejected':
      return isFeedback
        ? {
            reason: 'The event is not valid feedback.',
            advice: 'Correct it at the sender, or make a source that reads it.',
          }
        : {
            reason: 'Nothing in it makes a valid task.',
            advice: 'Correct the templates of the source, then replay it.',
            ...openSource,
          }
    case 'failed':
      return { reason: `It was tried ${timesOf(attempts)}.`, advice: 'Replay it.' }
    default:
      return undefined
  }
}

function ofCodehost({ outcome, reason, attempts, projectId }: Delivery): Explanation | undefined {
  if (reason === null) return undefined
  const { text, fix } = REASONS[reason] ?? { text: reason }
  const tried = attempts === 0 ? `${text}.` : `${text}, tried ${timesOf(attempts)}.`
  if (outcome === 'pending') return { reason: `${tried} It is tried again by itself.` }
  if (outcome !== 'failed') return { reason: tried }
  if (!fix || projectId === null) return { reason: tried, advice: 'Replay it.' }
  return { reason: tried, ...FIXES[fix](`/projects/${projectId}`) }
}

const FIXES = {
  token: (to: Path) => ({
    advice: 'Renew the token, then replay it.',
    action: { label: 'Renew token', to, search: { edit: 'connection' } },
  }),
  connection: (to: Path) => ({
    advice: 'Correct the connection, then replay it.',
    action: { label: 'Open project settings', to, search: {} },
  }),
}

const timesOf = (attempts: number) => (attempts === 1 ? 'once' : `${attempts} times`)

/** Why a change of the code host was not applied, or changed nothing, and what has to be mended. */
const REASONS: Record<string, { text: string; fix?: keyof typeof FIXES }> = {
  outdated: { text: 'Something newer was stored' },
  unchanged: { text: 'Nothing changed' },
  deleted_here: { text: 'Its task was deleted here' },
  event_ignored: { text: 'This event is not used' },
  action_ignored: { text: 'This action is not used' },
  other_repository: { text: 'It is about another repository' },
  comments_off: { text: 'Comments are not synced' },
  project_archived: { text: 'The project is archived' },
  invalid_payload: { text: 'The payload has no issue, pull request or comment' },
  rate_limited: { text: 'The code host limits requests' },
  codehost_unreachable: { text: 'The code host did not respond as expected' },
  codehost_token_rejected: { text: 'The code host rejected the token', fix: 'token' },
  codehost_token_unreadable: { text: 'The stored token cannot be decrypted', fix: 'token' },
  codehost_repository_not_found: { text: 'The code host did not find the repository', fix: 'connection' },
  codehost_access_denied: { text: 'The token cannot read issues', fix: 'token' },
  codehost_url_not_allowed: { text: 'This code host is not allowed', fix: 'connection' },
  internal_error: { text: 'An error occurred; the service log has details' },
}
