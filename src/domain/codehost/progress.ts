import { toSecond } from './item.ts'

/** Where a run stands. Written with each page, so that whoever takes over asks for no committed page again. */
export type Checkpoint =
  /** Everything, oldest first. `since` is when the latest change was before the first page; null when there was none. */
  | { phase: 'listing'; next: string; since: string | null }
  /** What changed since then, least recent first. With an `etag`, only if the answer is another one now. */
  | { phase: 'updates'; next: string; since: string; etag?: string | null }
  /** What a full run did not meet is asked for one by one. */
  | { phase: 'vanished' }

/** Where an incremental run takes up: the last address whose answer was committed, and what came of it. */
export interface SyncPosition {
  /** Null while the repository is empty: then the address is that of the listing. */
  since: string | null
  url: string
  etag: string | null
  /** What was to be asked next; null at the end. */
  next: string | null
}

/** A page that was answered. */
export interface PageRead {
  url: string
  etag: string | null
  next: string | null
  /** When the entries were updated, in the order they came. */
  updatedAt: (string | null)[]
}

/**
 * Changes become visible a little out of order: a page begins this much before the last one ended. Where that would
 * be no progress it begins at the last entry's own second.
 */
const OVERLAP_MS = 5_000
const MAX_PER_PAGE = 100

/** The first request of an incremental run; undefined when everything has to be listed. */
export function resumeAt(position: SyncPosition | null): (Checkpoint & { phase: 'updates' }) | undefined {
  if (position?.since == null) return undefined
  const { since, url, etag, next } = position
  return next === null ? { phase: 'updates', next: url, since, etag } : { phase: 'updates', next, since }
}

/**
 * Where to go on after a page of the listing. Undefined when the repository is empty.
 * @param updatesUrl makes the address of what changed since a time.
 */
export function afterListing(
  { since }: Checkpoint & { phase: 'listing' },
  page: PageRead,
  updatesUrl: (since: string) => string,
): Checkpoint | undefined {
  // Empty a moment ago: then nothing here is older than the oldest of these.
  const from = since ?? page.updatedAt.filter((time) => time !== null).sort()[0] ?? null
  if (page.next) return { phase: 'listing', next: page.next, since: from }
  if (from === null) return undefined
  const anchor = toSecond(Date.parse(from) - OVERLAP_MS)
  return { phase: 'updates', next: updatesUrl(anchor), since: anchor }
}

/** Where to go on after a page of changes, `next` null at the end, and what to remember for the next run. */
export function afterUpdates(
  { since, etag }: Checkpoint & { phase: 'updates' },
  page: PageRead,
  updatesUrl: (since: string) => string,
): { checkpoint: (Checkpoint & { phase: 'updates' }) | undefined; position: SyncPosition } {
  const go = (next: string, from = since) => ({
    checkpoint: { phase: 'updates' as const, next, since: from },
    // Another run begins with a time: by then a numbered page may hold other entries.
    position: { since: from, url: page.url, etag: page.etag, next: updatesUrl(from) },
  })
  const end = (etag: string | null) => ({
    checkpoint: undefined,
    position: { since, url: page.url, etag, next: null },
  })
  // A page further on was asked only whether it is still the same. It is not, so entries before it have moved.
  if (etag !== undefined && page.url !== updatesUrl(since)) return go(updatesUrl(since))
  const isFull = page.updatedAt.length >= MAX_PER_PAGE
  if (page.next === null && !isFull) return end(page.etag)
  const anchor = anchorAfter(since, page.updatedAt.at(-1) ?? null)
  // What comes after a full page leaves it as it is: the end is only known from a page with room.
  if (anchor !== null) return go(updatesUrl(anchor), anchor)
  // A page within one second: only its own link leads on.
  return page.next === null ? end(null) : go(page.next)
}

function anchorAfter(since: string, last: string | null): string | null {
  if (last === null) return null
  const overlapping = toSecond(Date.parse(last) - OVERLAP_MS)
  if (overlapping > since) return overlapping
  return last > since ? last : null
}

const MAY_VANISH = 1 / 5
/** So few are asked for one by one in any case: of three entries, one is a third. */
const MAX_ALWAYS_PLAUSIBLE = 10

/** A listing that lost so much is no news about entries but about the listing. */
export function isPlausible({ present, vanished }: { present: number; vanished: number }): boolean {
  return vanished <= Math.max(MAX_ALWAYS_PLAUSIBLE, present * MAY_VANISH)
}

const HOUR_MS = 3_600_000

/** When the next scheduled run is due; null for never. */
export function nextRunAt(schedule: 'off' | 'hourly' | 'daily', now: Date): Date | null {
  if (schedule === 'off') return null
  return new Date(now.getTime() + (schedule === 'hourly' ? HOUR_MS : 24 * HOUR_MS))
}

/** What syncing again cannot mend, only a person. */
const FOR_A_PERSON = new Set([
  'codehost_token_rejected',
  'codehost_token_unreadable',
  'codehost_repository_not_found',
  'codehost_access_denied',
  'codehost_url_not_allowed',
])

/**
 * When the next scheduled run is due, once one has ended: after a success no later than an interval from now, after
 * what only a person can mend a day from now, and otherwise when it was due anyway.
 */
export function nextRunAfter(
  error: { code: string } | null,
  { schedule, nextRunAt: due }: { schedule: 'off' | 'hourly' | 'daily'; nextRunAt: Date | null },
  now: Date,
): Date | null {
  if (due === null) return null
  if (error === null) return sooner(due, nextRunAt(schedule, now))
  return FOR_A_PERSON.has(error.code) ? nextRunAt('daily', now) : due
}

/** When it is due after the connection was put anew: what kept it back may be mended. */
export const sooner = (due: Date | null, next: Date | null) => (due && next && due < next ? due : next)

/** When everything is reconciled again: a week after the last time, a day after an attempt. */
export const nextFullAt = (after: 'done' | 'attempted', now: Date) =>
  new Date(now.getTime() + (after === 'done' ? 7 : 1) * 24 * HOUR_MS)
