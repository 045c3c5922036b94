import type { CodeHost } from '../../clients/codehost.ts'
import { type CodehostComment, commentsOf } from '../../domain/codehost/comment.ts'
import {
  afterListing,
  afterUpdates,
  type Checkpoint,
  type CommentsCheckpoint,
  type ListCheckpoint,
  type ListingCheckpoint,
  restarted,
  resumeAt,
  type SyncPosition,
  startedAgain,
  type UpdatesCheckpoint,
} from '../../domain/codehost/progress.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { Snapshot } from '../../repositories/codehost/stored-since.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { Repositories } from '../../repositories/index.ts'
import { CUT_SHORT, LEADS_BACK } from '../codehost/run-errors.ts'
import type { LeasedRun } from './leased-run.ts'
import type { PageToWrite } from './page.ts'
import { LARGE_PAGE_BYTES, type RunRequests, VANISHED_BATCH } from './requests.ts'

interface CommentSteps {
  repos: Repositories
  host: CodeHost
  run: SyncRunRow
  connection: ConnectionRow
  leased: LeasedRun
  requests: RunRequests
  isTurnOver(): boolean
}

interface WrittenTo {
  list: ListCheckpoint | undefined
  after: string | null
  again: CommentsCheckpoint
  position: SyncPosition | undefined
}

/**
 * The comments of a repository, after its issues and pull requests: the first time, and in a full run, all of them by
 * id, then what has changed since. A full run deletes those that the host no longer has.
 */
export function commentSteps({
  repos,
  host,
  run,
  connection: { apiUrl, repositoryId, commentsPosition },
  leased,
  requests,
  isTurnOver,
}: CommentSteps) {
  const listingUrl = host.commentsUrl(apiUrl, { repositoryId })
  const updatesUrl = (since: string) => host.commentsUrl(apiUrl, { repositoryId, since })
  const latestUrl = host.latestCommentUrl(apiUrl, repositoryId)
  const readPage = (url: string, etag?: string | null) => requests.readPage({ url, etag }, commentsOf)
  const readListed = ({ next: url, ...list }: ListCheckpoint, again: ListCheckpoint | undefined) =>
    requests.readListed({ url, etag: list.phase === 'updates' ? list.etag : null, again }, commentsOf)

  /** Returns where to continue; undefined if the run is over for this worker. */
  return async function step({ list, after }: CommentsCheckpoint): Promise<Checkpoint | undefined> {
    if (list === null) return begin(asPosition(commentsPosition))
    return list.phase === 'listing' ? readListing(list, after) : readUpdates(list)
  }

  async function begin(position: SyncPosition | null): Promise<CommentsCheckpoint | undefined> {
    if (run.mode === 'incremental') {
      const list = resumeAt(position)
      if (list) return { phase: 'comments', list, after: null }
      if (position && (await isStillEmpty(position))) return undefined
    }
    // Changes from here on are read at the end. The time is of the host's clock, not of ours.
    const latest = await readPage(latestUrl)
    if (latest?.outcome !== 'page') return undefined
    const since = latest.items[0]?.updatedAt ?? null
    return { phase: 'comments', list: { phase: 'listing', next: listingUrl, since }, after: null }
  }

  async function isStillEmpty({ url, etag }: SyncPosition): Promise<boolean> {
    const page = await readPage(url, etag)
    if (page?.outcome === 'page') return false
    if (page) await leased.end(null, page.limits)
    return true
  }

  async function readListing(list: ListingCheckpoint, after: string | null) {
    const again = startedAgain(list, listingUrl)
    const page = await readListed(list, again)
    if (page?.outcome === 'lost') return fromStart(page.again)
    if (page?.outcome !== 'page') return undefined
    // The previous page had a `next` link, so an empty page is an error, not the end of the list.
    if (page.items.length === 0 && list.next !== listingUrl) {
      return again ? fromStart(again) : leased.end(CUT_SHORT)
    }
    const until = page.next === null ? null : (page.items.at(-1)?.externalId ?? null)
    if (run.mode === 'full') {
      const missing = await missingFrom(page.items, { after, until })
      if (missing.length > 0) return checkMissing(missing, { list, limits: page.limits })
    }
    const read = { ...page, url: list.next, updatedAt: page.items.map(({ updatedAt }) => updatedAt) }
    const { checkpoint: following, position } = afterListing(list, { page: read, updatesUrl })
    if (following === 'circle') return leased.end(LEADS_BACK)
    // A full run has to see every comment itself.
    const isKept = following?.phase !== 'listing' || run.mode === 'incremental'
    return writeAndContinue(page, {
      list: following,
      after: until,
      again: { phase: 'comments', list, after },
      position: isKept ? position : undefined,
    })
  }

  async function readUpdates(list: UpdatesCheckpoint) {
    const page = await readListed(list, startedAgain(list, updatesUrl(list.since)))
    if (page?.outcome === 'lost') return fromStart(page.again)
    if (page?.outcome === 'unchanged') return leased.end(null, page.limits)
    if (!page) return undefined
    const read = { ...page, url: list.next, updatedAt: page.items.map(({ updatedAt }) => updatedAt) }
    const { checkpoint, position } = afterUpdates(list, { page: read, updatesUrl })
    if (checkpoint === 'circle') return leased.end(LEADS_BACK)
    const again = fromStart(restarted(list, updatesUrl))
    return writeAndContinue(page, { list: checkpoint, after: null, again, position })
  }

  async function writeAndContinue(
    {
      items: comments,
      asOf,
      limits,
      bytes,
    }: Pick<PageToWrite, 'limits'> & {
      items: CodehostComment[]
      asOf: Snapshot
      bytes: number
    },
    { list, after, again, position }: WrittenTo,
  ): Promise<Checkpoint | undefined> {
    const items = await readUnknownItems(comments)
    if (!items) return undefined
    const next = list && ({ phase: 'comments', list, after } as const)
    if (list && bytes <= LARGE_PAGE_BYTES && !isTurnOver()) requests.prefetch(list.next)
    const written = await leased.write({
      items,
      limits,
      checkpoint: next,
      again,
      comments: { comments, asOf, gone: [], ...(position && { position }) },
    })
    if (written === undefined) await leased.end(null)
    return written || undefined
  }

  /** The issues and pull requests of comments that were opened after theirs were read. */
  async function readUnknownItems(comments: CodehostComment[]) {
    const numbers = [...new Set(comments.map(({ number }) => number))]
    const { syncedTasks } = repos.within(run)
    const unknown = await syncedTasks.listUnknown(run.projectId, { repositoryId, numbers })
    const items = []
    for await (const { response } of requests.readItems(unknown)) {
      if (!response) return undefined
      if (response.outcome === 'present') items.push(response.item)
    }
    return items
  }

  /** Stored comments with ids within those of a page that the page does not have. */
  async function missingFrom(
    comments: CodehostComment[],
    { after, until }: { after: string | null; until: string | null },
  ): Promise<string[]> {
    const listed = comments.map(({ externalId }) => externalId)
    const range = { repositoryId, after, until, except: listed, limit: VANISHED_BATCH }
    return repos.within(run).syncedComments.listExternalIds(run.projectId, range)
  }

  /** Deletes comments that the host no longer has. Then the page is read again: others may have moved onto it. */
  async function checkMissing(
    externalIds: string[],
    { list, limits }: { list: ListCheckpoint; limits: PageToWrite['limits'] },
  ): Promise<CommentsCheckpoint | undefined> {
    const gone: string[] = []
    const comments: CodehostComment[] = []
    for await (const { key: externalId, response } of requests.readComments(externalIds)) {
      if (!response) return undefined
      if (response.outcome === 'deleted') gone.push(externalId)
      else comments.push(...(commentsOf([response.comment]) ?? []))
    }
    const next = { phase: 'comments' as const, list, after: externalIds.at(-1) ?? null }
    const isWritten = await leased.write({
      items: [],
      limits,
      checkpoint: next,
      comments: { comments, gone },
    })
    return isWritten === false ? undefined : next
  }
}

const fromStart = (list: ListCheckpoint): CommentsCheckpoint => ({ phase: 'comments', list, after: null })

/** Cast: only `writePage` writes this column. */
const asPosition = (json: unknown) => json as SyncPosition | null
