import type { CodeHost, HostAccess, HostLimits } from '../../clients/codehost.ts'
import { itemsOf } from '../../domain/codehost/item.ts'
import {
  afterListing,
  afterUpdates,
  type Checkpoint,
  isPlausible,
  type ListCheckpoint,
  type ListingCheckpoint,
  restarted,
  resumeAt,
  type SyncPosition,
  startedAgain,
  type UpdatesCheckpoint,
} from '../../domain/codehost/progress.ts'
import type { Clock } from '../../lib/clock.ts'
import { collectGarbage } from '../../lib/collect-garbage.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { Repositories } from '../../repositories/index.ts'
import {
  CUT_SHORT,
  DISCONNECTED,
  LEADS_BACK,
  TOO_MANY_ATTEMPTS,
  tooManyVanished,
  WENT_EMPTY,
} from '../codehost/run-errors.ts'
import type { TokenVault } from '../codehost/token.ts'
import { commentSteps } from './comment-steps.ts'
import { asCheckpoint, type GoneItem, type LeasedRun, leasedRun } from './leased-run.ts'
import type { PageToWrite } from './page.ts'
import { LARGE_PAGE_BYTES, runRequests, VANISHED_BATCH } from './requests.ts'
import { totalOf } from './total.ts'

export interface RunDeps {
  repos: Repositories
  clock: Clock
  host: CodeHost
  vault: TokenVault
  publish(run: SyncRunRow): void
  turn: Turn
  /** Pause before a retry of a request. */
  pauseMs: number
}

/** Limits how long a run occupies the worker: between two requests it yields to waiting runs. */
interface Turn {
  isOver(): boolean
  isAnyWaiting(): Promise<boolean>
  release(): Promise<void>
}

/** A run fails after this many workers in a row could not commit a page. */
const MAX_ATTEMPTS = 5

/**
 * Works on a claimed run from its checkpoint on. Returns when it has ended, is postponed, or belongs to another worker;
 * throws on unexpected errors and on abort: then another worker resumes the run.
 */
export async function followRepository(
  deps: RunDeps,
  { run, signal }: { run: SyncRunRow; signal: AbortSignal },
): Promise<void> {
  const { repos, host, vault, turn } = deps
  const leased: LeasedRun = leasedRun(deps, run)
  if (run.attempts > MAX_ATTEMPTS) return leased.end(TOO_MANY_ATTEMPTS)
  const connection = await repos.within(run).codehost.find(run.projectId)
  if (connection?.id !== run.connectionId) return leased.end(DISCONNECTED)
  const access = vault.accessOf(connection)
  if ('code' in access) return leased.end(access)

  const { apiUrl, repositoryId } = connection
  const updatesUrl = (since: string) => host.updatesUrl(apiUrl, { repositoryId, since })
  const requests = runRequests(deps, { run, leased, connection, access, signal })
  const listingUrl = host.listingUrl(apiUrl, repositoryId)
  const readPage = (url: string, etag?: string | null) => requests.readPage({ url, etag }, itemsOf)
  const readListed = ({ next: url, ...list }: ListCheckpoint, again: ListCheckpoint | undefined) =>
    requests.readListed({ url, etag: list.phase === 'updates' ? list.etag : null, again }, itemsOf)
  const firstOfComments: Checkpoint | undefined = connection.comments
    ? { phase: 'comments', list: null, after: null }
    : undefined
  const readComments = commentSteps({
    repos,
    host,
    run,
    connection,
    leased,
    requests,
    isTurnOver: turn.isOver,
  })

  let checkpoint: Checkpoint | undefined =
    asCheckpoint(run.checkpoint) ?? (await begin(asPosition(connection)))
  while (checkpoint) {
    checkpoint = await step(checkpoint)
    if (checkpoint && (await hasYielded())) return
  }

  /** The first request of a new run; undefined if there is nothing to do. */
  async function begin(position: SyncPosition | null): Promise<Checkpoint | undefined> {
    if (run.mode === 'incremental') {
      const next = resumeAt(position)
      if (next) return next
      const page = position && (await readPage(position.url, position.etag))
      if (page?.outcome === 'unchanged') return endOfItems(page.limits)
      if (position && !page) return undefined
    }
    // Changes from here on are read at the end. The time is of the host's clock, not of ours.
    const latest = await readPage(host.latestUrl(apiUrl, repositoryId))
    if (latest?.outcome !== 'page') return undefined
    const since = latest.items[0]?.updatedAt ?? null
    const total = await totalOf(latest, { host, access: access as HostAccess, signal })
    if (total !== null && !(await leased.writeTotal(total))) return undefined
    return { phase: 'listing', next: listingUrl, since }
  }

  async function step(checkpoint: Checkpoint): Promise<Checkpoint | undefined> {
    signal.throwIfAborted()
    switch (checkpoint.phase) {
      case 'listing':
        return readListing(checkpoint)
      case 'updates':
        return readUpdates(checkpoint)
      case 'vanished':
        return checkVanished()
      case 'comments':
        return readComments(checkpoint)
    }
  }

  async function readListing(checkpoint: ListingCheckpoint) {
    const again = startedAgain(checkpoint, listingUrl)
    const page = await readListed(checkpoint, again)
    if (page?.outcome === 'lost') return page.again
    if (page?.outcome !== 'page') return undefined
    const { items } = page
    const isFirst = checkpoint.next === listingUrl
    // The previous page had a `next` link, so an empty page is an error, not the end of the list.
    if (items.length === 0 && !isFirst) return again ?? leased.end(CUT_SHORT)
    if (items.length === 0 && !isPlausible(await countPresent())) return leased.end(WENT_EMPTY)
    const read = { ...page, url: checkpoint.next, updatedAt: items.map(({ updatedAt }) => updatedAt) }
    const { checkpoint: following, position } = afterListing(checkpoint, { page: read, updatesUrl })
    if (following === 'circle') return leased.end(LEADS_BACK)
    // A full run has to see every item itself.
    const isKept = following?.phase !== 'listing' || run.mode === 'incremental'
    return writeAndContinue(page, {
      // A full run checks the few known items even if the listing is empty.
      next: following ?? afterUpdatesOf(run),
      again: checkpoint,
      // Where the next run resumes if this one fails from here on.
      position: isKept ? position : undefined,
    })
  }

  async function readUpdates(checkpoint: UpdatesCheckpoint) {
    const page = await readListed(checkpoint, startedAgain(checkpoint, updatesUrl(checkpoint.since)))
    if (page?.outcome === 'lost') return page.again
    if (page?.outcome === 'unchanged') return endOfItems(page.limits)
    if (!page) return undefined
    const { items } = page
    const read = { ...page, url: checkpoint.next, updatedAt: items.map(({ updatedAt }) => updatedAt) }
    const { checkpoint: more, position } = afterUpdates(checkpoint, { page: read, updatesUrl })
    if (more === 'circle') return leased.end(LEADS_BACK)
    const again = restarted(checkpoint, updatesUrl)
    return writeAndContinue(page, { next: more ?? afterUpdatesOf(run), again, position })
  }

  /** Undefined if that was the last page, or the run is over for this worker. */
  async function writeAndContinue(
    { items, limits, bytes, asOf }: Pick<PageToWrite, 'items' | 'limits' | 'asOf'> & { bytes: number },
    {
      next,
      again,
      position,
    }: { next: Checkpoint | undefined; again: Checkpoint; position: SyncPosition | undefined },
  ): Promise<Checkpoint | undefined> {
    const isPrefetching = next?.phase === 'listing' || next?.phase === 'updates'
    if (isPrefetching && bytes <= LARGE_PAGE_BYTES && !turn.isOver()) requests.prefetch(next.next)
    const written = await leased.write({
      items,
      asOf,
      limits,
      checkpoint: next,
      again,
      ...(position && { position }),
    })
    if (written === undefined) await leased.end(null)
    if (bytes > LARGE_PAGE_BYTES) collectGarbage()
    return written || undefined
  }

  async function checkVanished(): Promise<Checkpoint | undefined> {
    // Also valid after a takeover: items marked as gone meanwhile only lower the share.
    const counts = await countPresent()
    if (!isPlausible(counts)) return leased.end(tooManyVanished(counts))
    for (;;) {
      const { syncedTasks } = repos.within(run)
      const numbers = await syncedTasks.listVanished(run.projectId, {
        repositoryId,
        runId: run.id,
        limit: VANISHED_BATCH,
      })
      if (numbers.length === 0) return endOfItems()
      if (!(await checkItems(numbers))) return undefined
      if (await hasYielded()) return undefined
    }
  }

  /** Requests each of these items. Returns false if the run is over for this worker. */
  async function checkItems(numbers: number[]): Promise<boolean> {
    const gone: GoneItem[] = []
    let last: HostLimits | undefined
    for await (const { key: number, response } of requests.readItems(numbers)) {
      if (!response) return false
      if (response.outcome === 'present') {
        const { item, limits, asOf } = response
        const checkpoint = { phase: 'vanished' as const }
        if (!(await leased.write({ items: [item], asOf, limits, checkpoint, again: checkpoint })))
          return false
      } else {
        gone.push({ number, sourceState: response.outcome })
        last = response.limits
      }
    }
    return last === undefined || leased.writeGone(gone, last)
  }

  /** What follows the changes; undefined if the run is complete. */
  function afterUpdatesOf({ mode }: SyncRunRow): Checkpoint | undefined {
    return mode === 'full' ? { phase: 'vanished' } : firstOfComments
  }

  /** Continues with the comments, or ends the run. */
  async function endOfItems(limits?: HostLimits): Promise<Checkpoint | undefined> {
    return firstOfComments ?? leased.end(null, limits)
  }

  async function hasYielded(): Promise<boolean> {
    // A prefetched page is processed first, so that it is not requested twice.
    if (requests.isPrefetched() || !turn.isOver() || !(await turn.isAnyWaiting())) return false
    await turn.release()
    return true
  }

  function countPresent() {
    return repos.within(run).syncedTasks.countPresent(run.projectId, { repositoryId, runId: run.id })
  }
}

/** Cast: only `writePage` writes this column. */
const asPosition = ({ position }: ConnectionRow) => position as SyncPosition | null
