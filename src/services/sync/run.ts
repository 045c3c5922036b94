import { setTimeout as wait } from 'node:timers/promises'
import type { CodeHost, HostAccess, HostLimits, Refusal, Silence } from '../../clients/codehost.ts'
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
import type { TokenVault } from '../codehost/token.ts'
import { DISCONNECTED, type RunError } from './end.ts'
import { type GoneItem, type LeasedRun, leasedRun } from './leased-run.ts'

export interface RunDeps {
  repos: Repositories
  clock: Clock
  host: CodeHost
  vault: TokenVault
  publish(run: SyncRunRow): void
  turn: Turn
  /** Between tries of one request. */
  pauseMs: number
}

/** A long run keeps nobody waiting: between two requests it lets others go first. */
interface Turn {
  isOver(): boolean
  isWanted(): Promise<boolean>
  give(): Promise<void>
}

const TRIES = 3
/** A run that so many workers took up and none brought one page further is given up. */
const MAX_ATTEMPTS = 5
/** The page after one that is larger is asked for only when that one is written: two would lie in memory. */
const LARGE_PAGE_BYTES = 2 * 1024 * 1024
/** Vanished entries asked for before any is marked: few, so that a host with tight limits lets one such lot through. */
const VANISHED_AT_ONCE = 20

/**
 * One claimed run, from its checkpoint to its end. Returns when it has ended, was put off, or is for others now;
 * throws what nobody foresaw, and when the signal says stop: the run is then taken up again by whoever looks next.
 */
export async function followRepository(deps: RunDeps, run: SyncRunRow, signal: AbortSignal): Promise<void> {
  const { repos, clock, host, vault, turn, pauseMs } = deps
  const held: LeasedRun = leasedRun(deps, run)
  if (run.attempts > MAX_ATTEMPTS) return held.end(GIVEN_UP)
  const connection = await repos.within(run).codehost.find(run.projectId)
  if (connection?.id !== run.connectionId) return held.end(DISCONNECTED)
  const access = vault.accessOf(connection)
  if ('code' in access) return held.end(access)

  const { apiUrl, repositoryId } = connection
  const updatesUrl = (since: string) => host.updatesUrl(apiUrl, repositoryId, since)
  let ahead: { url: string; answer: ReturnType<CodeHost['readPage']> } | undefined

  let checkpoint: Checkpoint | undefined =
    asCheckpoint(run.checkpoint) ?? (await begin(asPosition(connection)))
  while (checkpoint) {
    checkpoint = await step(checkpoint, access)
    if (checkpoint && (await hasGivenWay())) return
  }

  /** The first request of a fresh run; undefined when that was all. */
  async function begin(position: SyncPosition | null): Promise<Checkpoint | undefined> {
    if (run.mode === 'incremental') {
      const next = resumeAt(position)
      if (next) return next
      if (position && (await isStillEmpty(position, access as HostAccess))) return undefined
    }
    // What changes from here on is caught up with at the end. Its own clock says when that is, not ours.
    const latest = await readPage(access as HostAccess, host.latestUrl(apiUrl, repositoryId))
    if (latest?.outcome !== 'page') return undefined
    const since = latest.entries[0]?.updatedAt ?? null
    return { phase: 'listing', next: host.listingUrl(apiUrl, repositoryId), since }
  }

  async function isStillEmpty({ url, etag }: SyncPosition, access: HostAccess): Promise<boolean> {
    const page = await readPage(access, url, etag)
    if (page?.outcome === 'page') return false
    if (page) await held.end(null, page.limits)
    return true
  }

  async function step(checkpoint: Checkpoint, access: HostAccess): Promise<Checkpoint | undefined> {
    signal.throwIfAborted()
    switch (checkpoint.phase) {
      case 'listing':
        return list(checkpoint, access)
      case 'updates':
        return catchUp(checkpoint, access)
      case 'vanished':
        return askForVanished(access)
    }
  }

  async function list(checkpoint: Checkpoint & { phase: 'listing' }, access: HostAccess) {
    const page = await readPage(access, checkpoint.next)
    if (page?.outcome !== 'page') return undefined
    const { entries } = page
    const read = { ...page, url: checkpoint.next, updatedAt: entries.map(({ updatedAt }) => updatedAt) }
    const afterIt = afterListing(checkpoint, read, updatesUrl)
    const isFirst = checkpoint.next === host.listingUrl(apiUrl, repositoryId)
    // A next page was promised, so an empty one is no end: rather fail than take half for the whole.
    if (entries.length === 0 && !isFirst) return held.end(CUT_SHORT)
    if (entries.length === 0 && !isPlausible(await countPresent())) return held.end(WENT_EMPTY)
    // Also of an empty listing a full run asks what became of the few that were there.
    const next = afterIt ?? (run.mode === 'full' ? ({ phase: 'vanished' } as const) : undefined)
    // Where the next run takes up if this one fails from here on.
    const position =
      next?.phase === 'updates'
        ? { since: next.since, url: checkpoint.next, etag: null, next: next.next }
        : { since: null, url: checkpoint.next, etag: page.etag, next: null }
    return writeAndGoOn(page, next, next?.phase === 'listing' ? undefined : position, access)
  }

  async function catchUp(checkpoint: Checkpoint & { phase: 'updates' }, access: HostAccess) {
    const page = await readPage(access, checkpoint.next, checkpoint.etag)
    if (page?.outcome === 'unchanged') return held.end(null, page.limits)
    if (!page) return undefined
    const { entries } = page
    const read = { ...page, url: checkpoint.next, updatedAt: entries.map(({ updatedAt }) => updatedAt) }
    const { checkpoint: more, position } = afterUpdates(checkpoint, read, updatesUrl)
    const next = more ?? (run.mode === 'full' ? ({ phase: 'vanished' } as const) : undefined)
    return writeAndGoOn(page, next, position, access)
  }

  /** Undefined when that was all, or the run is over for this worker. */
  async function writeAndGoOn<T extends Checkpoint>(
    { entries, limits, bytes }: { entries: CodehostItem[]; limits: HostLimits; bytes: number },
    next: T | undefined,
    position: SyncPosition | undefined,
    access: HostAccess,
  ): Promise<T | undefined> {
    readAhead(next, bytes, access)
    const isWritten = await held.write({
      items: entries,
      limits,
      checkpoint: next,
      ...(position && { position }),
    })
    if (isWritten && !next) await held.end(null)
    if (bytes > LARGE_PAGE_BYTES) collectGarbage()
    return isWritten ? next : undefined
  }

  async function askForVanished(access: HostAccess): Promise<undefined> {
    // Also after a takeover: what was found gone meanwhile has made the proportion no worse.
    const counts = await countPresent()
    if (!isPlausible(counts)) return held.end(tooManyVanished(counts))
    for (;;) {
      const { syncedTasks } = repos.within(run)
      const numbers = await syncedTasks.listVanished(run.projectId, repositoryId, run.id, VANISHED_AT_ONCE)
      if (numbers.length === 0) return held.end(null)
      if (!(await settle(numbers, access))) return undefined
      if (await hasGivenWay()) return undefined
    }
  }

  /** Finds out what became of these. False when the run is over or no longer ours. */
  async function settle(numbers: number[], access: HostAccess): Promise<boolean> {
    const gone: GoneItem[] = []
    for (const number of numbers) {
      const answer = await askFor(number, access)
      if (!answer) return false
      if (answer.outcome !== 'present') gone.push({ number, sourceState: answer.outcome })
      else {
        const { entry, limits } = answer
        if (!(await held.write({ items: [entry], limits, checkpoint: { phase: 'vanished' } }))) return false
      }
    }
    if (gone.length === 0) return true
    // One by one they are all not found as well when the repository or its issues can no longer be seen.
    const latest = await readPage(access, host.latestUrl(apiUrl, repositoryId))
    return latest !== undefined && held.writeGone(gone, latest.limits)
  }

  async function askFor(number: number, access: HostAccess) {
    signal.throwIfAborted()
    return asking(async () => {
      const answer = await host.readItem(access, repositoryId, number, signal)
      if (answer.outcome !== 'present') return answer
      const [entry] = itemsOf([answer.item]) ?? []
      return entry?.number === number ? { ...answer, entry } : NOT_AN_ISSUE
    })
  }

  async function hasGivenWay(): Promise<boolean> {
    // A page that is on its way is taken first: nobody asks for it a second time.
    if (ahead || !turn.isOver() || !(await turn.isWanted())) return false
    await turn.give()
    return true
  }

  /** The next page is on its way while this one is written. Still one request at a time. */
  function readAhead(next: Checkpoint | undefined, bytes: number, access: HostAccess): void {
    if (!next || next.phase === 'vanished' || bytes > LARGE_PAGE_BYTES || turn.isOver()) return
    ahead = { url: next.next, answer: host.readPage(access, next.next, { signal }) }
    // Whoever takes it hears of it; when nobody does, the run is over.
    ahead.answer.catch(() => {})
  }

  async function readPage(access: HostAccess, url: string, etag?: string | null) {
    return asking(async () => {
      const early = ahead?.url === url ? ahead.answer : undefined
      ahead = undefined
      const page = await (early ?? host.readPage(access, url, { etag: etag ?? null, signal }))
      if (page.outcome !== 'page') return page
      const entries: CodehostItem[] | undefined = itemsOf(page.items)
      page.items.length = 0
      if (page.bytes > LARGE_PAGE_BYTES) collectGarbage()
      return entries ? { ...page, entries } : NOT_AN_ISSUE
    })
  }

  /** Tries three times what only silence answers; undefined when the run was put off or has failed. */
  async function asking<T extends { outcome: string }>(
    ask: () => Promise<T | Refusal | Silence>,
  ): Promise<T | undefined> {
    for (let attempt = 1; ; attempt++) {
      const answer = await ask()
      if (isRefusal(answer)) {
        await refused(answer)
        return undefined
      }
      if (!isSilence(answer)) return answer
      if (attempt === TRIES) {
        const message = `The code host did not answer as it should, ${TRIES} times in a row: ${answer.why} Sync again when it is well.`
        return held.end({ code: 'codehost_unreachable', message })
      }
      await wait(pauseMs, undefined, { signal })
    }
  }

  async function refused(refusal: Refusal): Promise<void> {
    // Another token was given meanwhile: the run is taken up again with that one.
    const present = await repos.within(run).codehost.find(run.projectId)
    if (present?.id === connection?.id && present?.token !== connection?.token) return turn.give()
    const hasToken = access !== undefined && 'token' in access && access.token !== null
    const judged = judgeRefusal(refusal, {
      now: clock.now(),
      hasToken,
      limitedBefore: held.limitedBefore(),
    })
    if (judged.verdict === 'wait') await held.putOff(judged.retryAt, judged.isGuess, refusal.limits)
    else await held.end(judged)
  }

  function countPresent() {
    return repos.within(run).syncedTasks.countPresent(run.projectId, repositoryId, run.id)
  }
}

const isRefusal = (answer: { outcome: string }): answer is Refusal => answer.outcome === 'refused'
const isSilence = (answer: { outcome: string }): answer is Silence => answer.outcome === 'unreachable'

const NOT_AN_ISSUE: Silence = {
  outcome: 'unreachable',
  why: 'Its answer holds something that is no issue.',
}

const GIVEN_UP: RunError = {
  code: 'internal_error',
  message: 'The sync broke off again and again at the same place. The log of the service says why.',
}

const CUT_SHORT: RunError = {
  code: 'codehost_unreachable',
  message: 'The listing ended before the page the code host had promised. Sync again.',
}

const WENT_EMPTY: RunError = {
  code: 'reconciliation_aborted',
  message:
    'The code host lists nothing at all, and there are tasks of this repository here. Nothing was changed. Check the repository and the token.',
}

const tooManyVanished = ({ present, vanished }: { present: number; vanished: number }): RunError => ({
  code: 'reconciliation_aborted',
  message: `${vanished} of ${present} entries are missing from the listing, more than ten and more than a fifth. None was marked as gone. Check the repository and the token, then run a full sync again.`,
})

/** The columns hold only what a page wrote. */
const asCheckpoint = (json: unknown) => (json ?? undefined) as Checkpoint | undefined
const asPosition = ({ position }: ConnectionRow) => position as SyncPosition | null
