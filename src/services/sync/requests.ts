import { setTimeout as wait } from 'node:timers/promises'
import type { HostAccess, Refusal, Unreachable } from '../../clients/codehost.ts'
import { type CodehostItem, itemsOf } from '../../domain/codehost/item.ts'
import type { ListCheckpoint } from '../../domain/codehost/progress.ts'
import { judgeRefusal } from '../../domain/codehost/refusal.ts'
import { collectGarbage } from '../../lib/collect-garbage.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import { inProject } from '../../repositories/index.ts'
import { isRefusal, isUnreachable } from '../codehost/failures.ts'
import { readBatch } from '../codehost/reading.ts'
import { isSameSecret } from '../codehost/token.ts'
import { tokenPauses } from '../codehost/token-pauses.ts'
import type { LeasedRun } from './leased-run.ts'
import type { RunDeps } from './run.ts'

export type RunRequests = ReturnType<typeof runRequests>

/** The size of a page whose successor is not prefetched: both would be in memory. */
export const LARGE_PAGE_BYTES = 2 * 1024 * 1024
/**
 * Vanished items or comments that are read before any counts as deleted: few, so that one batch, of up to 21 requests,
 * fits within tight rate limits.
 */
export const VANISHED_BATCH = 10
const MAX_TRIES = 3

interface PageRequest {
  url: string
  etag?: string | null | undefined
}

type Parse<T> = (elements: unknown[]) => T[] | undefined

/** The host rejects the URL of a page. */
const UNPROCESSABLE = 422

interface RunRequestsOptions {
  run: SyncRunRow
  leased: LeasedRun
  connection: ConnectionRow
  access: HostAccess
  signal: AbortSignal
}

/**
 * The requests of a run. Requests without a valid response are sent again. If that is in vain, or the code host refuses
 * one, the run is postponed or has failed, and the request returns undefined.
 */
export function runRequests(
  { repos, clock, host, turn, pauseMs }: RunDeps,
  { run, leased, connection, access, signal }: RunRequestsOptions,
) {
  const { repositoryId } = connection
  const { syncedTasks } = repos.within(inProject(run.projectId))
  const pauses = tokenPauses({ repos })
  let prefetched: { url: string; request: ReturnType<typeof requestUnlessPaused> } | undefined

  return {
    readPage,

    /** The same for a page of a list that can start again if this page no longer exists. */
    async readListed<T>(
      { again, ...request }: PageRequest & { again: ListCheckpoint | undefined },
      parse: Parse<T>,
    ) {
      return withRetries(async () => {
        const page = await parsedPage(request, parse)
        const isLost = isRefusal(page) && page.status === UNPROCESSABLE
        return again && isLost ? { outcome: 'lost' as const, again } : page
      })
    },

    readItems: (numbers: number[]) => readBatch(numbers, { read: readItem, readRepository }),

    readComments: (externalIds: string[]) => readBatch(externalIds, { read: readComment, readRepository }),

    /** Requests a page while the one before is written. Still one request at a time. */
    prefetch(url: string): void {
      prefetched = { url, request: requestUnlessPaused(url) }
      // `readPage` handles the error; if it is never called, the run is over.
      prefetched.request.catch(() => {})
    },

    isPrefetched: () => prefetched !== undefined,
  }

  /** @param parse returns undefined if an element is invalid */
  async function readPage<T>(request: PageRequest, parse: Parse<T>) {
    return withRetries(() => parsedPage(request, parse))
  }

  async function readRepository() {
    return readPage({ url: host.latestUrl(connection.apiUrl, repositoryId) }, itemsOf)
  }

  async function readItem(number: number) {
    signal.throwIfAborted()
    return withRetries(async () => {
      const asOf = await syncedTasks.snapshot()
      const response = await host.readItem(access, { repositoryId, number, signal })
      if (response.outcome !== 'present') return response
      const [item]: CodehostItem[] = itemsOf([response.item]) ?? []
      return item?.number === number ? { ...response, item, asOf } : INVALID_ELEMENT
    })
  }

  async function readComment(externalId: string) {
    signal.throwIfAborted()
    return withRetries(() => host.readComment(access, { repositoryId, externalId, signal }))
  }

  async function parsedPage<T>({ url, etag }: PageRequest, parse: Parse<T>) {
    const prefetchedPage = prefetched?.url === url ? prefetched.request : undefined
    prefetched = undefined
    const { asOf, page } = (await prefetchedPage) ?? (await requestPage(url, etag))
    if (page.outcome !== 'page') return page
    const items = parse(page.items)
    page.items.length = 0
    if (page.bytes > LARGE_PAGE_BYTES) collectGarbage()
    return items ? { ...page, items, asOf } : INVALID_ELEMENT
  }

  async function requestPage(url: string, etag: string | null = null) {
    const asOf = await syncedTasks.snapshot()
    return { asOf, page: await host.readPage(access, { url, etag, signal }) }
  }

  /** Undefined while the token is paused. */
  async function requestUnlessPaused(url: string) {
    return (await pauses.remaining(access)) > 0 ? undefined : requestPage(url)
  }

  async function withRetries<T extends { outcome: string }>(
    send: () => Promise<T | Refusal | Unreachable>,
  ): Promise<T | undefined> {
    const paused = await pauses.remaining(access)
    if (paused > 0) return leased.postpone(new Date(clock.now().getTime() + paused))
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
    const present = await repos.within(inProject(run.projectId)).codehost.find(run.projectId)
    if (present && present.id === connection.id && !isSameSecret(present, connection)) return turn.release()
    const now = clock.now()
    const judged = judgeRefusal(refusal, { now, access, limitedBefore: leased.limitedBefore() })
    if (judged.verdict === 'wait') {
      await pauses.pause(access, { now, retryAt: judged.retryAt })
      await leased.postpone(judged.retryAt, { isGuess: judged.isGuess, limits: refusal.limits })
    } else await leased.end(judged)
  }
}

const INVALID_ELEMENT: Unreachable = {
  outcome: 'unreachable',
  reason: 'The response contains an invalid issue or comment.',
}
