import { setTimeout as wait } from 'node:timers/promises'
import type { CodeHost, HostAccess, HostLimits, Refusal, Unreachable } from '../../clients/codehost.ts'
import { type CodehostItem, itemsOf } from '../../domain/codehost/item.ts'
import {
  afterListing,
  afterUpdates,
  type Checkpoint,
  isPlausible,
  resumeAt,
  type SyncPosition,
} from '../../domain/codehost/progress.ts'
import { judgeRefusal } from '../../domain/codehost/refusal.ts'
import type { Clock } from '../../lib/clock.ts'
import { collectGarbage } from '../../lib/collect-garbage.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { Repositories } from '../../repositories/index.ts'
import { isSameSecret, type TokenVault } from '../codehost/token.ts'
import { type GoneItem, type LeasedRun, leasedRun } from './leased-run.ts'
import { CUT_SHORT, DISCONNECTED, TOO_MANY_ATTEMPTS, tooManyVanished, WENT_EMPTY } from './run-errors.ts'
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

const MAX_TRIES = 3
/** A run fails after this many workers in a row could not commit a page. */
const MAX_ATTEMPTS = 5
/** After a larger page the next one is not prefetched: both would be in memory. */
const LARGE_PAGE_BYTES = 2 * 1024 * 1024
/** Vanished items checked before any is marked: few, so that one batch fits within tight rate limits. */
const VANISHED_BATCH = 20

/**
 * Works on a claimed run from its checkpoint on. Returns when it has ended, is postponed, or belongs to another worker;
 * throws on unexpected errors and on abort: then another worker resumes the run.
 */
export async function followRepository(
  deps: RunDeps,
  { run, signal }: { run: SyncRunRow; signal: AbortSignal },
): Promise<void> {
  const { repos, clock, host, vault, turn, pauseMs } = deps
  const leased: LeasedRun = leasedRun(deps, run)
  if (run.attempts > MAX_ATTEMPTS) return leased.end(TOO_MANY_ATTEMPTS)
  const connection = await repos.within(run).codehost.find(run.projectId)
  if (connection?.id !== run.connectionId) return leased.end(DISCONNECTED)
  const access = vault.accessOf(connection)
  if ('code' in access) return leased.end(access)

  const { apiUrl, repositoryId } = connection
  const updatesUrl = (since: string) => host.updatesUrl(apiUrl, { repositoryId, since })
  let prefetched: { url: string; response: ReturnType<CodeHost['readPage']> } | undefined

  let checkpoint: Checkpoint | undefined =
    asCheckpoint(run.checkpoint) ?? (await begin(asPosition(connection)))
  while (checkpoint) {
    checkpoint = await step(checkpoint, access)
    if (checkpoint && (await hasYielded())) return
  }

  /** The first request of a new run; undefined if there is nothing to do. */
  async function begin(position: SyncPosition | null): Promise<Checkpoint | undefined> {
    if (run.mode === 'incremental') {
      const next = resumeAt(position)
      if (next) return next
      if (position && (await isStillEmpty(position, access as HostAccess))) return undefined
    }
    // Changes from here on are read at the end. The time is of the host's clock, not of ours.
    const latest = await readPage(access as HostAccess, { url: host.latestUrl(apiUrl, repositoryId) })
    if (latest?.outcome !== 'page') return undefined
    const since = latest.items[0]?.updatedAt ?? null
    const total = await totalOf(latest, { host, access: access as HostAccess, signal })
    if (total !== null && !(await leased.writeTotal(total))) return undefined
    return { phase: 'listing', next: host.listingUrl(apiUrl, repositoryId), since }
  }

  async function isStillEmpty({ url, etag }: SyncPosition, access: HostAccess): Promise<boolean> {
    const page = await readPage(access, { url, etag })
    if (page?.outcome === 'page') return false
    if (page) await leased.end(null, page.limits)
    return true
  }

  async function step(checkpoint: Checkpoint, access: HostAccess): Promise<Checkpoint | undefined> {
    signal.throwIfAborted()
    switch (checkpoint.phase) {
      case 'listing':
        return readListing(checkpoint, access)
      case 'updates':
        return readUpdates(checkpoint, access)
      case 'vanished':
        return checkVanished(access)
    }
  }

  async function readListing(checkpoint: Checkpoint & { phase: 'listing' }, access: HostAccess) {
    const page = await readPage(access, { url: checkpoint.next })
    if (page?.outcome !== 'page') return undefined
    const { items } = page
    const read = { ...page, url: checkpoint.next, updatedAt: items.map(({ updatedAt }) => updatedAt) }
    const following = afterListing(checkpoint, { page: read, updatesUrl })
    const isFirst = checkpoint.next === host.listingUrl(apiUrl, repositoryId)
    // The previous page had a `next` link, so an empty page is an error, not the end of the list.
    if (items.length === 0 && !isFirst) return leased.end(CUT_SHORT)
    if (items.length === 0 && !isPlausible(await countPresent())) return leased.end(WENT_EMPTY)
    // A full run checks the few known items even if the listing is empty.
    const next = following ?? (run.mode === 'full' ? ({ phase: 'vanished' } as const) : undefined)
    // Where the next run resumes if this one fails from here on.
    const position =
      next?.phase === 'updates'
        ? { since: next.since, url: checkpoint.next, etag: null, next: next.next }
        : { since: null, url: checkpoint.next, etag: page.etag, next: null }
    return writeAndContinue(page, {
      next,
      position: next?.phase === 'listing' ? undefined : position,
      access,
    })
  }

  async function readUpdates(checkpoint: Checkpoint & { phase: 'updates' }, access: HostAccess) {
    const page = await readPage(access, { url: checkpoint.next, etag: checkpoint.etag })
    if (page?.outcome === 'unchanged') return leased.end(null, page.limits)
    if (!page) return undefined
    const { items } = page
    const read = { ...page, url: checkpoint.next, updatedAt: items.map(({ updatedAt }) => updatedAt) }
    const { checkpoint: more, position } = afterUpdates(checkpoint, { page: read, updatesUrl })
    const next = more ?? (run.mode === 'full' ? ({ phase: 'vanished' } as const) : undefined)
    return writeAndContinue(page, { next, position, access })
  }

  /** Undefined if that was the last page, or the run is over for this worker. */
  async function writeAndContinue<T extends Checkpoint>(
    { items, limits, bytes }: { items: CodehostItem[]; limits: HostLimits; bytes: number },
    {
      next,
      position,
      access,
    }: { next: T | undefined; position: SyncPosition | undefined; access: HostAccess },
  ): Promise<T | undefined> {
    prefetch(next, { bytes, access })
    const isWritten = await leased.write({
      items,
      limits,
      checkpoint: next,
      ...(position && { position }),
    })
    if (isWritten && !next) await leased.end(null)
    if (bytes > LARGE_PAGE_BYTES) collectGarbage()
    return isWritten ? next : undefined
  }

  async function checkVanished(access: HostAccess): Promise<undefined> {
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
      if (numbers.length === 0) return leased.end(null)
      if (!(await checkItems(numbers, access))) return undefined
      if (await hasYielded()) return undefined
    }
  }

  /** Requests each of these items. Returns false if the run is over for this worker. */
  async function checkItems(numbers: number[], access: HostAccess): Promise<boolean> {
    const gone: GoneItem[] = []
    for (const number of numbers) {
      const response = await readItem(number, access)
      if (!response) return false
      if (response.outcome !== 'present') gone.push({ number, sourceState: response.outcome })
      else {
        const { item, limits } = response
        if (!(await leased.write({ items: [item], limits, checkpoint: { phase: 'vanished' } }))) return false
      }
    }
    if (gone.length === 0) return true
    // If the repository or its issues became unreadable, every item returns 404: check before marking any.
    const latest = await readPage(access, { url: host.latestUrl(apiUrl, repositoryId) })
    return latest !== undefined && leased.writeGone(gone, latest.limits)
  }

  async function readItem(number: number, access: HostAccess) {
    signal.throwIfAborted()
    return withRetries(async () => {
      const response = await host.readItem(access, { repositoryId, number, signal })
      if (response.outcome !== 'present') return response
      const [item] = itemsOf([response.item]) ?? []
      return item?.number === number ? { ...response, item } : NOT_AN_ISSUE
    })
  }

  async function hasYielded(): Promise<boolean> {
    // A prefetched page is processed first, so that it is not requested twice.
    if (prefetched || !turn.isOver() || !(await turn.isAnyWaiting())) return false
    await turn.release()
    return true
  }

  /** Requests the next page while this one is written. Still one request at a time. */
  function prefetch(
    next: Checkpoint | undefined,
    { bytes, access }: { bytes: number; access: HostAccess },
  ): void {
    if (!next || next.phase === 'vanished' || bytes > LARGE_PAGE_BYTES || turn.isOver()) return
    prefetched = { url: next.next, response: host.readPage(access, { url: next.next, signal }) }
    // `readPage` handles the error; if it is never called, the run is over.
    prefetched.response.catch(() => {})
  }

  async function readPage(
    access: HostAccess,
    { url, etag }: { url: string; etag?: string | null | undefined },
  ) {
    return withRetries(async () => {
      const prefetchedPage = prefetched?.url === url ? prefetched.response : undefined
      prefetched = undefined
      const page = await (prefetchedPage ?? host.readPage(access, { url, etag: etag ?? null, signal }))
      if (page.outcome !== 'page') return page
      const items: CodehostItem[] | undefined = itemsOf(page.items)
      page.items.length = 0
      if (page.bytes > LARGE_PAGE_BYTES) collectGarbage()
      return items ? { ...page, items } : NOT_AN_ISSUE
    })
  }

  /** Retries requests without a valid response; undefined if the run was postponed or has failed. */
  async function withRetries<T extends { outcome: string }>(
    send: () => Promise<T | Refusal | Unreachable>,
  ): Promise<T | undefined> {
    for (let attempt = 1; ; attempt++) {
      const response = await send()
      if (isRefusal(response)) {
        await handleRefusal(response)
        return undefined
      }
      if (!isUnreachable(response)) return response
      if (attempt === MAX_TRIES) {
        const message = `The code host did not respond as expected ${MAX_TRIES} times in a row: ${response.reason} Sync again later.`
        return leased.end({ code: 'codehost_unreachable', message })
      }
      await wait(pauseMs, undefined, { signal })
    }
  }

  async function handleRefusal(refusal: Refusal): Promise<void> {
    // The credentials were changed meanwhile: the run resumes with the new ones.
    const present = await repos.within(run).codehost.find(run.projectId)
    if (present && present.id === connection?.id && !isSameSecret(present, connection)) return turn.release()
    const judged = judgeRefusal(refusal, {
      now: clock.now(),
      access: access as HostAccess,
      limitedBefore: leased.limitedBefore(),
    })
    if (judged.verdict === 'wait')
      await leased.postpone(judged.retryAt, { isGuess: judged.isGuess, limits: refusal.limits })
    else await leased.end(judged)
  }

  function countPresent() {
    return repos.within(run).syncedTasks.countPresent(run.projectId, { repositoryId, runId: run.id })
  }
}

const isRefusal = (response: { outcome: string }): response is Refusal => response.outcome === 'refused'
const isUnreachable = (response: { outcome: string }): response is Unreachable =>
  response.outcome === 'unreachable'

const NOT_AN_ISSUE: Unreachable = {
  outcome: 'unreachable',
  reason: 'The response contains an invalid issue.',
}

/** Casts: only `writePage` writes these columns. */
const asCheckpoint = (json: unknown) => (json ?? undefined) as Checkpoint | undefined
const asPosition = ({ position }: ConnectionRow) => position as SyncPosition | null
