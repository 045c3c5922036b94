import type { Path } from '../navigation/link.tsx'
import type { Search } from '../navigation/search-params.ts'
import { CODEHOST_REASONS, connectionFix } from '../overview/codehost-reasons.ts'
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
function ofContent({ receiver, sourceId, outcome }: Delivery): Explanation | undefined {
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
    default:
      return undefined
  }
}

function ofCodehost({ outcome, reason, attempts, projectId }: Delivery): Explanation | undefined {
  if (reason === null) return undefined
  const text = CODEHOST_REASONS[reason] ?? reason
  const tried = attempts === 0 ? `${text}.` : `${text}, tried ${timesOf(attempts)}.`
  if (outcome === 'pending') return { reason: `${tried} It is tried again by itself.` }
  if (outcome !== 'failed') return { reason: tried }
  const action = projectId === null ? undefined : connectionFix(reason, projectId)
  if (!action) return { reason: tried, advice: 'Replay it.' }
  return { reason: tried, advice: 'Correct the connection, then replay it.', action }
}

const timesOf = (attempts: number) => (attempts === 1 ? 'once' : `${attempts} times`)
