import { isDeepStrictEqual } from 'node:util'
import { asRecord } from '../../lib/as-record.ts'
import type { DropReason } from './delivery.ts'
import { type CodehostItem, itemOf } from './item.ts'

/** What a delivery reports. */
export type PushChange =
  | { kind: 'item'; item: CodehostItem }
  | { kind: 'gone'; number: number; sourceState: 'deleted' | 'transferred' }
  /** The repository has another name. */
  | { kind: 'renamed' }
  | { kind: 'none' }
  | { kind: 'ignored'; reason: DropReason }
  | { kind: 'invalid' }

/** Reads the change from a stored payload. */
export function changeOf({ event, payload }: { event: string; payload: Buffer }): PushChange {
  const { action, issue, pull_request: pull } = asRecord(JSON.parse(payload.toString()))
  if (event === 'repository') {
    const isRenamed = action === 'renamed' || action === 'transferred'
    return isRenamed ? { kind: 'renamed' } : { kind: 'ignored', reason: 'action_ignored' }
  }
  if (event === 'ping') return { kind: 'none' }
  if (event === 'issue_comment') return { kind: 'ignored', reason: 'comments_off' }
  // A pull request in a list of issues has the time of its merge in a member of this name.
  const raw = event === 'pull_request' ? { ...asRecord(pull), pull_request: pull } : issue
  const item = itemOf(raw)
  if (!item) return { kind: 'invalid' }
  if (event === 'issues' && (action === 'deleted' || action === 'transferred')) {
    return { kind: 'gone', number: item.number, sourceState: action }
  }
  return { kind: 'item', item }
}

/** What is stored of an item. */
interface KnownItem {
  hostUpdatedAt: Date | null
  sourceState: 'present' | 'transferred' | 'deleted'
}

/**
 * What to do with an item that deliveries report, one or more of them in any order: apply the newest, nothing because a
 * newer one is stored, or ask the host. Times are in seconds: of two that are equal nobody knows which is newer.
 */
export function decideReported(
  items: CodehostItem[],
  known: KnownItem | undefined,
): { verdict: 'apply'; item: CodehostItem } | { verdict: 'outdated' } | { verdict: 'ask' } {
  const newest = items.reduce((a, b) => (timeOf(b) > timeOf(a) ? b : a))
  const isAmbiguous = items.some(
    (item) => timeOf(item) === timeOf(newest) && !isDeepStrictEqual(item, newest),
  )
  if (known && known.sourceState !== 'present') return { verdict: 'ask' }
  const storedAt = known?.hostUpdatedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  if (timeOf(newest) < storedAt) return { verdict: 'outdated' }
  if (newest.updatedAt === null || timeOf(newest) === storedAt || isAmbiguous) return { verdict: 'ask' }
  // What an earlier version stored has no time.
  if (known && known.hostUpdatedAt === null) return { verdict: 'ask' }
  return { verdict: 'apply', item: newest }
}

const timeOf = ({ updatedAt }: CodehostItem) =>
  updatedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(updatedAt)
