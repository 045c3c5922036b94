import type { CodeHost } from '../../clients/codehost.ts'
import { type CodehostComment, commentsOf } from '../../domain/codehost/comment.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import { inProject, type Repositories } from '../../repositories/index.ts'
import type { HostList, Listed, ListedPage } from './follow-list.ts'
import type { LeasedRun } from './leased-run.ts'
import { type RunRequests, VANISHED_BATCH } from './requests.ts'

interface CommentListDeps {
  repos: Repositories
  host: CodeHost
  run: SyncRunRow
  connection: ConnectionRow
  leased: LeasedRun
  requests: RunRequests
}

/**
 * The comments of a repository, which follow its issues and pull requests. A full run deletes those that the host no
 * longer has.
 */
export function commentList({
  repos,
  host,
  run,
  connection: { apiUrl, repositoryId },
  leased,
  requests,
}: CommentListDeps): HostList<CodehostComment> {
  const checkpointOf: HostList<CodehostComment>['checkpointOf'] = ({ list, after }) => ({
    phase: 'comments',
    list,
    after,
  })

  return {
    urls: {
      listing: host.commentsUrl(apiUrl, { repositoryId }),
      latest: host.latestCommentUrl(apiUrl, repositoryId),
      updatesSince: (since) => host.commentsUrl(apiUrl, { repositoryId, since }),
    },
    parse: commentsOf,
    idOf: ({ externalId }) => externalId,
    checkpointOf,
    following: undefined,

    async missing({ items, limits }, listed) {
      if (run.mode !== 'full') return undefined
      const externalIds = await missingFrom(items, listed)
      return externalIds.length === 0 ? undefined : checkMissing(externalIds, { ...listed, limits })
    },

    async stored({ items: comments, asOf }, position) {
      const items = await readUnknownItems(comments)
      return items && { items, comments: { comments, asOf, gone: [], ...(position && { position }) } }
    },
  }

  /** The issues and pull requests of comments that were opened after theirs were read. */
  async function readUnknownItems(comments: CodehostComment[]) {
    const numbers = [...new Set(comments.map(({ number }) => number))]
    const { syncedTasks } = repos.within(inProject(run.projectId))
    const unknown = await syncedTasks.listUnknown(run.projectId, { repositoryId, numbers })
    const items = []
    for await (const { response } of requests.readItems(unknown)) {
      if (!response) return undefined
      if (response.outcome === 'present') items.push(response.item)
    }
    return items
  }

  /** Stored comments with ids within those of a page that the page does not have. */
  async function missingFrom(comments: CodehostComment[], { after, until }: Listed): Promise<string[]> {
    const listed = comments.map(({ externalId }) => externalId)
    const range = { repositoryId, after, until, except: listed, limit: VANISHED_BATCH }
    return repos.within(inProject(run.projectId)).syncedComments.listExternalIds(run.projectId, range)
  }

  /** Deletes comments that the host no longer has. Then the page is read again: others may have moved onto it. */
  async function checkMissing(
    externalIds: string[],
    { list, limits }: Pick<Listed, 'list'> & Pick<ListedPage<CodehostComment>, 'limits'>,
  ) {
    const gone: string[] = []
    const comments: CodehostComment[] = []
    for await (const { key: externalId, response } of requests.readComments(externalIds)) {
      if (!response) return { continueAt: undefined }
      if (response.outcome === 'deleted') gone.push(externalId)
      else comments.push(...(commentsOf([response.comment]) ?? []))
    }
    const checkpoint = checkpointOf({ list, after: externalIds.at(-1) ?? null })
    const isWritten = await leased.write({ items: [], limits, checkpoint, comments: { comments, gone } })
    return { continueAt: isWritten === false ? undefined : checkpoint }
  }
}
