import { isDeepStrictEqual } from 'node:util'
import { asRecord } from '../../lib/as-record.ts'
import { type CodehostComment, commentOf } from './comment.ts'
import type { DropReason } from './delivery.ts'
import { type CodehostItem, itemOf } from './item.ts'

/** What a delivery reports. */
export type PushChange =
  | { kind: 'item'; item: CodehostItem }
  | { kind: 'comment'; comment: CodehostComment; isDeleted: boolean; item: CodehostItem }
  | { kind: 'gone'; number: number; sourceState: 'deleted' | 'transferred' }
  /** The repository has another name. */
  | { kind: 'renamed' }
  | { kind: 'none' }
  | { kind: 'ignored'; reason: DropReason }
  | { kind: 'invalid' }

/** Reads the change from a stored payload. */
export function changeOf(
  { event, payload }: { event: string; payload: string },
  connection: { comments: boolean },
): PushChange {
  const { action, issue, pull_request: pull, comment } = asRecord(JSON.parse(payload))
  if (event === 'repository') {
    const isRenamed = action === 'renamed' || action === 'transferred'
    return isRenamed ? { kind: 'renamed' } : { kind: 'ignored', reason: 'action_ignored' }
  }
  if (event === 'ping') return { kind: 'none' }
  if (event === 'issue_comment') {
    if (!connection.comments) return { kind: 'ignored', reason: 'comments_off' }
    return commentChange({ action, raw: comment, item: itemOf(issue) })
  }
  // A pull request in a list of issues has the time of its merge in a member of this name.
  const raw = event === 'pull_request' ? { ...asRecord(pull), pull_request: pull } : issue
  const item = itemOf(raw)
  if (!item) return { kind: 'invalid' }
  if (event === 'issues' && (action === 'deleted' || action === 'transferred')) {
    return { kind: 'gone', number: item.number, sourceState: action }
  }
  return { kind: 'item', item }
}

function commentChange({
  action,
  raw,
  item,
}: {
  action: unknown
  raw: unknown
  item: CodehostItem | undefined
}): PushChange {
  if (!['created', 'edited', 'deleted'].includes(String(action))) {
    return { kind: 'ignored', reason: 'action_ignored' }
  }
  const comment = commentOf(raw)
  if (!comment || !item) return { kind: 'invalid' }
  return {
    kind: 'comment',
    comment: { ...comment, number: item.number },
    isDeleted: action === 'deleted',
    item,
  }
}

/** What is stored of an item or a comment. */
export interface Known {
  hostUpdatedAt: Date | null
  /** Comments have none: they are deleted with it. */
  sourceState?: 'present' | 'transferred' | 'deleted'
}

/** A state of an item or a comment, as a delivery reports it. */
export interface Reported {
  updatedAt: string | null
}

/** How far the clock of the host may be ahead of ours. Past that, only the host knows whether its time is right. */
const MAX_AHEAD_MS = 300_000

/**
 * What to do with an item or a comment that deliveries report, one or more of them in any order: apply the newest,
 * nothing because a newer one is stored, or read from the host again. Times are in seconds: of two that are equal nobody
 * knows which is newer.
 */
export function decideReported<T extends Reported>(
  reported: T[],
  { known, now }: { known: Known | undefined; now: Date },
): { verdict: 'apply'; newest: T } | { verdict: 'outdated' } | { verdict: 'refetch'; newest: T } {
  const newest = reported.reduce((a, b) => (timeOf(b) > timeOf(a) ? b : a))
  const isAmbiguous = reported.some(
    (each) => timeOf(each) === timeOf(newest) && !isDeepStrictEqual(each, newest),
  )
  if (known?.sourceState && known.sourceState !== 'present') return { verdict: 'refetch', newest }
  const storedAt = known?.hostUpdatedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  if (timeOf(newest) > now.getTime() + MAX_AHEAD_MS) return { verdict: 'refetch', newest }
  if (timeOf(newest) < storedAt) return { verdict: 'outdated' }
  if (newest.updatedAt === null || timeOf(newest) === storedAt || isAmbiguous)
    return { verdict: 'refetch', newest }
  // What an earlier version stored has no time.
  if (known && known.hostUpdatedAt === null) return { verdict: 'refetch', newest }
  return { verdict: 'apply', newest }
}

const timeOf = ({ updatedAt }: Reported) =>
  updatedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(updatedAt)
