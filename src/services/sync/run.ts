import type { CodeHost, HostLimits } from '../../clients/codehost.ts'
import type { CodehostComment } from '../../domain/codehost/comment.ts'
import { type CodehostItem, itemsOf } from '../../domain/codehost/item.ts'
import { type Checkpoint, isPlausible, type SyncPosition } from '../../domain/codehost/progress.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import { inProject, type Repositories } from '../../repositories/index.ts'
import { DISCONNECTED, TOO_MANY_ATTEMPTS, tooManyVanished, WENT_EMPTY } from '../codehost/run-errors.ts'
import type { TokenVault } from '../codehost/token.ts'
import { commentList } from './comment-list.ts'
import { followList } from './follow-list.ts'
import type { GoneItem } from './items.ts'
import { asCheckpoint, type LeasedRun, leasedRun } from './leased-run.ts'
import { runRequests, VANISHED_BATCH } from './requests.ts'
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
  const connection = await repos.within(inProject(run.projectId)).codehost.find(run.projectId)
  if (connection?.id !== run.connectionId) return leased.end(DISCONNECTED)
  const access = vault.accessOf(connection)
  if ('code' in access) return leased.end(access)

  const { apiUrl, repositoryId, position, commentsPosition } = connection
  const requests = runRequests(deps, { run, leased, connection, access, signal })
  const following = { run, leased, requests, isTurnOver: turn.isOver }
  const afterItems: Checkpoint | undefined = connection.comments
    ? { phase: 'comments', list: null, after: null }
    : undefined
  const items = followList<CodehostItem>(following, {
    urls: {
      listing: host.listingUrl(apiUrl, repositoryId),
      latest: host.latestUrl(apiUrl, repositoryId),
      updatesSince: (since) => host.updatesUrl(apiUrl, { repositoryId, since }),
    },
    parse: itemsOf,
    idOf: () => null,
    checkpointOf: ({ list }) => list,
    // A full run checks the few known items even if the listing is empty.
    following: run.mode === 'full' ? { phase: 'vanished' } : afterItems,

    async onLatest(latest) {
      const total = await totalOf(latest, { host, access, signal })
      return total === null || leased.writeTotal(total)
    },

    async missing(page) {
      if (page.items.length > 0 || isPlausible(await countPresent())) return undefined
      return { continueAt: await leased.end(WENT_EMPTY) }
    },

    stored: async ({ items, asOf }, position) => ({ items, asOf, ...(position && { position }) }),
  })
  const comments = followList<CodehostComment>(
    following,
    commentList({ repos, host, run, connection, leased, requests }),
  )

  let checkpoint: Checkpoint | undefined =
    asCheckpoint(run.checkpoint) ?? (await items.begin(asPosition(position)))
  while (checkpoint) {
    checkpoint = await step(checkpoint)
    if (checkpoint && (await hasYielded())) return
  }

  async function step(checkpoint: Checkpoint): Promise<Checkpoint | undefined> {
    signal.throwIfAborted()
    switch (checkpoint.phase) {
      case 'listing':
      case 'updates':
        return items.read({ list: checkpoint, after: null })
      case 'vanished':
        return checkVanished()
      case 'comments': {
        const { list, after } = checkpoint
        return list ? comments.read({ list, after }) : comments.begin(asPosition(commentsPosition))
      }
    }
  }

  async function checkVanished(): Promise<Checkpoint | undefined> {
    // Also valid after a takeover: items marked as gone meanwhile only lower the share.
    const counts = await countPresent()
    if (!isPlausible(counts)) return leased.end(tooManyVanished(counts))
    for (;;) {
      const { syncedTasks } = repos.within(inProject(run.projectId))
      const numbers = await syncedTasks.listVanished(run.projectId, {
        repositoryId,
        runId: run.id,
        limit: VANISHED_BATCH,
      })
      if (numbers.length === 0) return afterItems ?? leased.end(null)
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

  async function hasYielded(): Promise<boolean> {
    // A prefetched page is processed first, so that it is not requested twice.
    if (requests.isPrefetched() || !turn.isOver() || !(await turn.isAnyWaiting())) return false
    await turn.release()
    return true
  }

  function countPresent() {
    return repos
      .within(inProject(run.projectId))
      .syncedTasks.countPresent(run.projectId, { repositoryId, runId: run.id })
  }
}

/** Cast: only `writePage` writes this column. */
const asPosition = (json: unknown) => (json ?? null) as SyncPosition | null
