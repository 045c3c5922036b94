import { toSecond } from './item.ts'

/**
 * The progress of a run. Written in the transaction of each page, so that the next worker requests no committed page
 * again.
 */
export type Checkpoint =
  | ListCheckpoint
  /** Items that a full run did not see are requested one by one. */
  | { phase: 'vanished' }
  | CommentsCheckpoint

/** Comments follow the items. */
export interface CommentsCheckpoint {
  phase: 'comments'
  /** Null before the first request. */
  list: ListCheckpoint | null
  /** The listing is by id: no comment up to this one is missing. */
  after: string | null
}

/** A list of items or of comments. */
export type ListCheckpoint =
  /** Lists everything, oldest first. `since` is the latest change before the first page; null when there was none. */
  | { phase: 'listing'; next: string; since: string | null }
  /** Lists changes since a time, oldest change first. With an `etag`, the request is conditional. */
  | { phase: 'updates'; next: string; since: string; etag?: string | null }

/** Where an incremental run resumes: the URL of the last committed response, and its result. */
export interface SyncPosition {
  /** Null while the repository is empty: then `url` is that of the listing. */
  since: string | null
  url: string
  etag: string | null
  /** The URL of the next request; null at the end. */
  next: string | null
}

/** A page that was received. */
export interface PageRead {
  url: string
  etag: string | null
  next: string | null
  /** Update times of the items, in order of the response. */
  updatedAt: (string | null)[]
}

/**
 * Changes become visible slightly out of order, so a page starts this long before the end of the last one. If that
 * would be no progress, it starts at the second of the last item.
 */
const OVERLAP_MS = 5_000
const MAX_PER_PAGE = 100

/** The first request of an incremental run; undefined when a full listing is required. */
export function resumeAt(position: SyncPosition | null): (ListCheckpoint & { phase: 'updates' }) | undefined {
  if (position?.since == null) return undefined
  const { since, url, etag, next } = position
  return next === null ? { phase: 'updates', next: url, since, etag } : { phase: 'updates', next, since }
}

/**
 * The next request after a page of the listing. Undefined when the repository is empty.
 * @param updatesUrl returns the URL of the changes since a time.
 */
export function afterListing(
  { since }: ListCheckpoint & { phase: 'listing' },
  { page, updatesUrl }: { page: PageRead; updatesUrl: (since: string) => string },
): ListCheckpoint | undefined {
  // The repository was empty before this page, so nothing is older than the oldest of its items.
  const from = since ?? page.updatedAt.filter((time) => time !== null).sort()[0] ?? null
  if (page.next) return { phase: 'listing', next: page.next, since: from }
  if (from === null) return undefined
  const anchor = toSecond(Date.parse(from) - OVERLAP_MS)
  return { phase: 'updates', next: updatesUrl(anchor), since: anchor }
}

/** The next request after a page of changes (undefined at the end), and the position to store for the next run. */
export function afterUpdates(
  { since, etag }: ListCheckpoint & { phase: 'updates' },
  { page, updatesUrl }: { page: PageRead; updatesUrl: (since: string) => string },
): { checkpoint: (ListCheckpoint & { phase: 'updates' }) | undefined; position: SyncPosition } {
  const continueAt = (next: string, from = since) => ({
    checkpoint: { phase: 'updates' as const, next, since: from },
    // The next run starts from a time: a page number may refer to other items by then.
    position: { since: from, url: page.url, etag: page.etag, next: updatesUrl(from) },
  })
  const end = (etag: string | null) => ({
    checkpoint: undefined,
    position: { since, url: page.url, etag, next: null },
  })
  // A later page was requested conditionally and has changed, so items before it have moved: restart from `since`.
  if (etag !== undefined && page.url !== updatesUrl(since)) return continueAt(updatesUrl(since))
  const isFull = page.updatedAt.length >= MAX_PER_PAGE
  if (page.next === null && !isFull) return end(page.etag)
  const anchor = anchorAfter(since, page.updatedAt.at(-1) ?? null)
  // Items added after a full page do not change it, so only a page with room confirms the end.
  if (anchor !== null) return continueAt(updatesUrl(anchor), anchor)
  // All items of the page are within one second: only its `next` link makes progress.
  return page.next === null ? end(null) : continueAt(page.next)
}

/** To read a page of changes again. If a later one has changed since it was last read, items before it have moved. */
export const restarted = (
  { next, since, etag }: ListCheckpoint & { phase: 'updates' },
  updatesUrl: (since: string) => string,
): ListCheckpoint => ({ phase: 'updates', next: etag === undefined ? next : updatesUrl(since), since })

function anchorAfter(since: string, last: string | null): string | null {
  if (last === null) return null
  const overlapping = toSecond(Date.parse(last) - OVERLAP_MS)
  if (overlapping > since) return overlapping
  return last > since ? last : null
}

const MAX_VANISHED_SHARE = 1 / 5
/** This many missing items are always plausible: in a small repository one item is already a large share. */
const MAX_ALWAYS_PLAUSIBLE = 10

/** False if so many items are missing that the listing itself must be incomplete. */
export function isPlausible({ present, vanished }: { present: number; vanished: number }): boolean {
  return vanished <= Math.max(MAX_ALWAYS_PLAUSIBLE, present * MAX_VANISHED_SHARE)
}

const HOUR_MS = 3_600_000

/** When the next scheduled run is due; null for never. */
export function nextRunAt(schedule: 'off' | 'hourly' | 'daily', now: Date): Date | null {
  if (schedule === 'off') return null
  return new Date(now.getTime() + (schedule === 'hourly' ? HOUR_MS : 24 * HOUR_MS))
}

/**
 * When the next scheduled run is due after one has ended: after success at most one interval from now, after an error as
 * scheduled before. An error that a person has to mend may be mended at the code host, which nothing tells.
 */
export function nextRunAfter({
  error,
  connection: { schedule, nextRunAt: due },
  now,
}: {
  error: { code: string } | null
  connection: { schedule: 'off' | 'hourly' | 'daily'; nextRunAt: Date | null }
  now: Date
}): Date | null {
  if (due === null) return null
  return error === null ? sooner(due, nextRunAt(schedule, now)) : due
}

/** The due time after a connection was changed: the cause of a delay may be fixed. */
export const sooner = <T extends Date | null>(due: Date | null, next: T): Date | T =>
  due && next && due < next ? due : next

/** When the next full run is due: a week after a completed one, a day after an attempt. */
export const nextFullAt = (after: 'done' | 'attempted', now: Date) =>
  new Date(now.getTime() + (after === 'done' ? 7 : 1) * 24 * HOUR_MS)
