import { hashOf } from '../secret.ts'
import type { ItemTask } from './reading.ts'
import { shortId } from './short-id.ts'

/** The sender's id as it is stored, so that a replay recognizes what is sent again. */
export const storedSenderId = (id: string | null): string | null => (id === null ? null : shortId(id))

/** The deduplication key of a delivery whose sender gives it an id. */
export const dedupKeyOf = ({ sourceId, senderId }: { sourceId: string; senderId: string | null }) =>
  senderId === null ? null : `${sourceId} id:${hashOf(senderId)}`

/** What the service knows of the item that last had a key. */
export interface LatestItem {
  hash: string | null
  /** Whether it arrived at most ten seconds before. */
  isRecent: boolean
}

/**
 * The keys of the items of a delivery: their external IDs, or what is in them. Equal items of one delivery are told apart
 * by their number, so that each makes a task.
 */
export function itemKeysOf(items: ItemTask[]): string[] {
  const counts = new Map<string, number>()
  return items.map(({ task: { externalId }, hash }) => {
    if (externalId !== undefined) return `id:${externalId}`
    const count = (counts.get(hash) ?? 0) + 1
    counts.set(hash, count)
    return `item:${hash}:${count}`
  })
}

/**
 * Whether an item is sent again. With an external ID it is, if it equals the latest one; else for ten seconds: two people
 * may write the same.
 */
export const isRepeat = ({ task: { externalId }, hash }: ItemTask, latest: LatestItem): boolean =>
  latest.hash === hash && (externalId !== undefined || latest.isRecent)
