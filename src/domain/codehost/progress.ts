import type { SyncRun } from '../../schemas/sync-run.ts'
import { toSecond } from './item.ts'

/** Of runs that have not ended. A project has at most one. */
export const ACTIVE_STATUSES = ['queued', 'running', 'rate_limited'] as const satisfies SyncRun['status'][]

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
interface CommentsCheckpoint {
  phase: 'comments'
  /** Null before the first request. */
  list: ListCheckpoint | null
  /** The listing is by id: no comment up to this one is missing. */
  after: string | null
}

/** A list of items or of comments. */
export type ListCheckpoint = ListingCheckpoint | UpdatesCheckpoint

/** Lists everything, oldest first. `since` is the latest change before the first page; null when there was none. */
export interface ListingCheckpoint extends Following {
  phase: 'listing'
  next: string
  since: string | null
}

/** Lists changes since a time, oldest change first. With an `etag`, the request is conditional. */
export interface UpdatesCheckpoint extends Following {
  phase: 'updates'
  next: string
  since: string
  etag?: string | null
}

/** How a list was followed since its first page. */
interface Following {
  trail?: Trail
  /** A later page could not be requested, so the list was started again: a second time is an error. */
  isRestarted?: true
}

/** A URL on the way along `next` links: whoever gets back to it is in a circle, however long (Brent's algorithm). */
interface Trail {
  mark: string
  steps: number
  maxSteps: number
}

/** Where an incremental run resumes: the URL of the last committed response, and its result. */
export interface SyncPosition {
  /** Null while the repository is empty: then `url` is that of the listing. */
  since: string | null
  url: string
  etag: string | null
  /** The URL of the next request; null at the end. */
  next: string | null
  /** The listing of everything has not ended yet. */
  isListing?: true
}

/** A page that was received. */
export interface PageRead {
  url: string
  etag: string | null
  next: string | null
  /** Update times of the items, in order of the response. */
  updatedAt: (string | null)[]
  /** The host's time, which no update time exceeds; null if it does not send it. */
  date: string | null
}

/**
 * Changes become visible slightly out of order, so a page starts this long before the end of the last one. If that
 * would be no progress, it starts at the second of the last item.
 */
const OVERLAP_MS = 5_000
const MAX_PER_PAGE = 100

/** Whether the repository has not been listed yet, so that an item may be older than the connection. */
export const isBeforeListed = (position: SyncPosition | null): boolean =>
  position === null || position.isListing === true

/** The first request of an incremental run; undefined when a full listing is required. */
export function resumeAt(position: SyncPosition | null): ListCheckpoint | undefined {
  if (!position) return undefined
  const { since, url, etag, next, isListing } = position
  if (isListing && next !== null) return { phase: 'listing', next, since }
  if (since === null) return undefined
  return next === null ? { phase: 'updates', next: url, since, etag } : { phase: 'updates', next, since }
}

/**
 * The next request after a page of the listing, and the position to store for the next run. Without a checkpoint, the
 * repository is empty.
 * @param updatesUrl returns the URL of the changes since a time.
 */
export function afterListing(
  { since, trail, ...following }: ListingCheckpoint,
  { page, updatesUrl }: { page: PageRead; updatesUrl: (since: string) => string },
): { checkpoint: ListCheckpoint | 'circle' | undefined; position: SyncPosition } {
  // The repository was empty before this page, so nothing is older than the oldest of its items.
  const from = since ?? page.updatedAt.filter((time) => time !== null).sort()[0] ?? null
  const { url, next, etag } = page
  if (next !== null) {
    const further = trailTo(next, { from: url, trail })
    const checkpoint = further && { ...following, next, since: from, trail: further }
    return {
      checkpoint: checkpoint ?? 'circle',
      position: { since: from, url, etag: null, next, isListing: true },
    }
  }
  if (from === null) return { checkpoint: undefined, position: { since: null, url, etag, next: null } }
  const anchor = toSecond(Date.parse(from) - OVERLAP_MS)
  return {
    checkpoint: { phase: 'updates', next: updatesUrl(anchor), since: anchor },
    position: { since: anchor, url, etag: null, next: updatesUrl(anchor) },
  }
}

/** The next request after a page of changes (undefined at the end), and the position to store for the next run. */
export function afterUpdates(
  { since, etag, trail, isRestarted }: UpdatesCheckpoint,
  { page, updatesUrl }: { page: PageRead; updatesUrl: (since: string) => string },
): { checkpoint: UpdatesCheckpoint | 'circle' | undefined; position: SyncPosition } {
  const { url, next } = page
  const start = updatesUrl(since)
  // The next run starts from a time: a page number may refer to other items by then.
  const positionAt = (from: string) => ({ since: from, url, etag: page.etag, next: updatesUrl(from) })
  const startAt = (from: string) => ({
    checkpoint: {
      phase: 'updates' as const,
      next: updatesUrl(from),
      since: from,
      ...(from === since && isRestarted && { isRestarted }),
    },
    position: positionAt(from),
  })
  const end = (etag: string | null) => ({
    checkpoint: undefined,
    position: { since, url, etag, next: null },
  })
  // A later page was requested conditionally and has changed, so items before it have moved: restart from `since`.
  if (etag !== undefined && url !== start) return startAt(since)
  const isFull = page.updatedAt.length >= MAX_PER_PAGE
  const last = page.updatedAt.at(-1) ?? null
  // The host's time may replace a later one. Then it moves with each request, and confirms nothing.
  const endsNow = last !== null && last === page.date
  if (next === null && !isFull) return end(endsNow && url !== start ? null : page.etag)
  const anchor = endsNow && page.updatedAt[0] === last ? null : anchorAfter(since, last)
  // Items added after a full page do not change it, so only a page with room confirms the end.
  if (anchor !== null) return startAt(anchor)
  // All items of the page are within one second: only its `next` link makes progress.
  if (next === null) return end(null)
  const further = trailTo(next, { from: url, trail })
  const checkpoint = further && {
    phase: 'updates' as const,
    next,
    since,
    trail: further,
    ...(isRestarted && { isRestarted }),
  }
  return { checkpoint: checkpoint ?? 'circle', position: positionAt(since) }
}

/** Undefined if the link leads back. */
function trailTo(
  next: string,
  { from, trail }: { from: string; trail: Trail | undefined },
): Trail | undefined {
  const { mark, steps, maxSteps } = trail ?? { mark: from, steps: 0, maxSteps: 1 }
  if (next === mark) return undefined
  return steps + 1 < maxSteps
    ? { mark, steps: steps + 1, maxSteps }
    : { mark: next, steps: 0, maxSteps: maxSteps * 2 }
}

/**
 * The list from its first page on, in case a later one no longer exists: the item that its URL names may be gone. Undefined
 * if that was in vain before.
 */
export function startedAgain(
  { phase, next, since, isRestarted }: ListCheckpoint,
  first: string,
): ListCheckpoint | undefined {
  if (isRestarted || next === first) return undefined
  const again = { next: first, isRestarted: true as const }
  return phase === 'listing' ? { ...again, phase, since } : { ...again, phase, since }
}

/** To read a page of changes again. If a later one has changed since it was last read, items before it have moved. */
export const restarted = (
  { next, since, etag }: UpdatesCheckpoint,
  updatesUrl: (since: string) => string,
): UpdatesCheckpoint => ({ phase: 'updates', next: etag === undefined ? next : updatesUrl(since), since })

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
}: EndedRun): Date | null {
  if (due === null) return null
  return error === null ? sooner(due, nextRunAt(schedule, now)) : due
}

interface EndedRun {
  error: { code: string } | null
  connection: ScheduledConnection
  now: Date
}

interface ScheduledConnection {
  schedule: 'off' | 'hourly' | 'daily'
  nextRunAt: Date | null
}

/** The due time after a connection was changed: the cause of a delay may be fixed. */
export const sooner = <T extends Date | null>(due: Date | null, next: T): Date | T =>
  due && next && due < next ? due : next

/** When the next full run is due: a week after a completed one, a day after an attempt. */
export const nextFullAt = (after: 'done' | 'attempted', now: Date) =>
  new Date(now.getTime() + (after === 'done' ? 7 : 1) * 24 * HOUR_MS)
