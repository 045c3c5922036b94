import { isUtf8 } from 'node:buffer'
import { asRecord } from '../../lib/as-record.ts'
import { repaired } from '../../schemas/formats.ts'
import { externalIdOf } from './comment.ts'
import { isItemNumber } from './item.ts'

/** What the receiver reads of a delivery; the job reads the rest. */
export interface PushReading {
  action: string | null
  /** The repository that it is about; null if it is about none. */
  repositoryId: number | null
  /** The number of the issue or pull request. */
  number: number | null
  /** The id of the comment. */
  commentId: string | null
}

export type PushParsing = { isJson: true; reading: PushReading } | { isJson: false; problem: string }

/** Why a delivery was not applied. */
export type DropReason =
  | 'event_ignored'
  | 'action_ignored'
  | 'other_repository'
  | 'comments_off'
  | 'project_archived'

export function readPush(bytes: Uint8Array): PushParsing {
  if (!isUtf8(bytes)) return { isJson: false, problem: 'it is not UTF-8.' }
  try {
    const { action, repository, issue, pull_request, comment } = asRecord(
      JSON.parse(Buffer.from(bytes).toString()),
    )
    const { id } = asRecord(repository)
    const { number } = asRecord(issue ?? pull_request)
    return {
      isJson: true,
      reading: {
        action: typeof action === 'string' ? repaired(action).slice(0, MAX_ACTION_LENGTH) : null,
        repositoryId: typeof id === 'number' && Number.isSafeInteger(id) ? id : null,
        commentId: externalIdOf(asRecord(comment)) ?? null,
        number: isItemNumber(number) ? number : null,
      },
    }
  } catch (error) {
    return { isJson: false, problem: (error as Error).message.slice(0, 200) }
  }
}

/** Whether a delivery has to be applied, or why not. Deliveries that change nothing are applied as they arrive. */
export function judgeDelivery(
  { event, reading: { repositoryId } }: { event: string; reading: PushReading },
  connection: { repositoryId: number; comments: boolean },
): { outcome: 'pending' | 'accepted'; reason: null } | { outcome: 'ignored'; reason: DropReason } {
  if (!isAccepted(event)) return { outcome: 'ignored', reason: 'event_ignored' }
  // The webhook of an organization is tested without a repository.
  const isOfNone = event === 'ping' && repositoryId === null
  if (!isOfNone && repositoryId !== connection.repositoryId)
    return { outcome: 'ignored', reason: 'other_repository' }
  if (event === 'issue_comment' && !connection.comments) return { outcome: 'ignored', reason: 'comments_off' }
  return { outcome: OUTCOMES[event], reason: null }
}

/** Whether deliveries of an event are applied. */
export const isAccepted = (event: string): event is keyof typeof OUTCOMES => Object.hasOwn(OUTCOMES, event)

const OUTCOMES = {
  issues: 'pending',
  pull_request: 'pending',
  issue_comment: 'pending',
  repository: 'pending',
  ping: 'accepted',
} as const

/** Whether it can be applied later: the payload of any other event or repository is of no use. */
export const isKept = (reason: DropReason | null) =>
  reason !== 'event_ignored' && reason !== 'other_repository'

const MAX_ACTION_LENGTH = 100
