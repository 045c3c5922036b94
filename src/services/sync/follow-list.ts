import {
  afterListing,
  afterUpdates,
  type Checkpoint,
  type ListCheckpoint,
  type ListingCheckpoint,
  restarted,
  resumeAt,
  type SyncPosition,
  startedAgain,
  type UpdatesCheckpoint,
} from '../../domain/codehost/progress.ts'
import { collectGarbage } from '../../lib/collect-garbage.ts'
import type { Snapshot } from '../../repositories/codehost/stored-since.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import { CUT_SHORT, LEADS_BACK } from '../codehost/run-errors.ts'
import type { LeasedRun } from './leased-run.ts'
import type { PageToWrite } from './page.ts'
import { LARGE_PAGE_BYTES, type RunRequests } from './requests.ts'

/** A place in a list. */
export interface Place {
  list: ListCheckpoint
  /** The id of the last one that the listing has had; null at its beginning, and where ids do not matter. */
  after: string | null
}

/** A page of a list, as it was read. */
export interface ListedPage<Item> {
  items: Item[]
  asOf: Snapshot
  limits: PageToWrite['limits']
  next: string | null
  lastPage: number | null
}

/** What a page of the listing has: what is after one id, up to another. */
export interface Listed extends Place {
  /** Up to which id the page goes; null if it is the last one. */
  until: string | null
}

/** A list of the code host: the issues and pull requests of a repository, or its comments. */
export interface HostList<Item> {
  urls: { listing: string; latest: string; updatesSince(since: string): string }
  /** Returns undefined if an element is invalid. */
  parse(elements: unknown[]): Item[] | undefined
  /** By which the listing is in order; null if ids do not matter. */
  idOf(item: Item): string | null
  checkpointOf(place: Place): Checkpoint
  /** Where the run continues after the list; undefined if it is complete. */
  following: Checkpoint | undefined
  /** Takes the latest one before the listing is read. Returns false if the run is over for this worker. */
  onLatest?(page: ListedPage<Item>): Promise<boolean>
  /**
   * Looks for what is stored here and missing in a page of the listing. Returns undefined if there is none, or where to
   * continue instead of storing the page; nowhere if the run is over for this worker.
   */
  missing(page: ListedPage<Item>, listed: Listed): Promise<{ continueAt: Checkpoint | undefined } | undefined>
  /** What is stored of a page; undefined if the run is over for this worker. */
  stored(page: ListedPage<Item>, position: SyncPosition | undefined): Promise<StoredPage | undefined>
}

type StoredPage = Pick<PageToWrite, 'items' | 'asOf' | 'position' | 'comments'>

interface FollowingDeps {
  run: SyncRunRow
  leased: LeasedRun
  requests: RunRequests
  isTurnOver(): boolean
}

/** What follows a page. */
interface Continuation {
  /** The next page; undefined at the end of the list. */
  following: Place | undefined
  /** Where to continue if the page has to be read again. */
  again: Checkpoint
  /** Where the next run resumes. */
  position: SyncPosition | undefined
}

/**
 * Follows a list, a page at a time: the first time, and in a full run, all of it by id, then what has changed since. Each
 * step returns where to continue; undefined if the run is over for this worker.
 */
export function followList<Item extends { updatedAt: string | null }>(
  { run, leased, requests, isTurnOver }: FollowingDeps,
  list: HostList<Item>,
) {
  const { listing, latest, updatesSince: updatesUrl } = list.urls
  const fromStart = (again: ListCheckpoint) => list.checkpointOf({ list: again, after: null })
  const end = async (limits: PageToWrite['limits']) => list.following ?? leased.end(null, limits)
  const readPage = (url: string, etag?: string | null) => requests.readPage({ url, etag }, list.parse)
  const readListed = (at: ListCheckpoint, again: ListCheckpoint | undefined) =>
    requests.readListed({ url: at.next, etag: at.phase === 'updates' ? at.etag : null, again }, list.parse)

  return {
    /** The first request of a new run. */
    async begin(position: SyncPosition | null): Promise<Checkpoint | undefined> {
      if (run.mode === 'incremental') {
        const resumed = resumeAt(position)
        if (resumed) return fromStart(resumed)
        const page = position && (await readPage(position.url, position.etag))
        if (page?.outcome === 'unchanged') return end(page.limits)
        if (position && !page) return undefined
      }
      // Changes from here on are read at the end. The time is of the host's clock, not of ours.
      const page = await readPage(latest)
      if (page?.outcome !== 'page') return undefined
      const since = page.items[0]?.updatedAt ?? null
      if (list.onLatest && !(await list.onLatest(page))) return undefined
      return fromStart({ phase: 'listing', next: listing, since })
    },

    read({ list, after }: Place): Promise<Checkpoint | undefined> {
      return list.phase === 'listing' ? readListing(list, after) : readUpdates(list)
    },
  }

  async function readListing(at: ListingCheckpoint, after: string | null) {
    const again = startedAgain(at, listing)
    const page = await readListed(at, again)
    if (page?.outcome === 'lost') return fromStart(page.again)
    if (page?.outcome !== 'page') return undefined
    const { items, next } = page
    // The previous page had a `next` link, so an empty page is an error, not the end of the list.
    if (items.length === 0 && at.next !== listing) return again ? fromStart(again) : leased.end(CUT_SHORT)
    const last = items.at(-1)
    const until = next === null || last === undefined ? null : list.idOf(last)
    const missing = await list.missing(page, { list: at, after, until })
    if (missing) return missing.continueAt
    const read = { ...page, url: at.next, updatedAt: items.map(({ updatedAt }) => updatedAt) }
    const { checkpoint: following, position } = afterListing(at, { page: read, updatesUrl })
    if (following === 'circle') return leased.end(LEADS_BACK)
    // A full run has to see every one itself.
    const isKept = following?.phase !== 'listing' || run.mode === 'incremental'
    return write(page, {
      following: following && { list: following, after: until },
      again: list.checkpointOf({ list: at, after }),
      // Where the next run resumes if this one fails from here on.
      position: isKept ? position : undefined,
    })
  }

  async function readUpdates(at: UpdatesCheckpoint) {
    const page = await readListed(at, startedAgain(at, updatesUrl(at.since)))
    if (page?.outcome === 'lost') return fromStart(page.again)
    if (page?.outcome === 'unchanged') return end(page.limits)
    if (!page) return undefined
    const read = { ...page, url: at.next, updatedAt: page.items.map(({ updatedAt }) => updatedAt) }
    const { checkpoint: following, position } = afterUpdates(at, { page: read, updatesUrl })
    if (following === 'circle') return leased.end(LEADS_BACK)
    return write(page, {
      following: following && { list: following, after: null },
      again: fromStart(restarted(at, updatesUrl)),
      position,
    })
  }

  async function write(
    page: ListedPage<Item> & { bytes: number },
    { following, again, position }: Continuation,
  ): Promise<Checkpoint | undefined> {
    const stored = await list.stored(page, position)
    if (!stored) return undefined
    const isLarge = page.bytes > LARGE_PAGE_BYTES
    if (following && !isLarge && !isTurnOver()) requests.prefetch(following.list.next)
    const written = await leased.write({
      ...stored,
      limits: page.limits,
      checkpoint: following ? list.checkpointOf(following) : list.following,
      again,
    })
    if (written === undefined) await leased.end(null)
    if (isLarge) collectGarbage()
    return written || undefined
  }
}
