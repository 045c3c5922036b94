import { decideReported, type PushChange } from '../../domain/codehost/push-change.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncedCommentRow } from '../../repositories/codehost/synced-comments.ts'
import type { Settlement } from '../../repositories/deliveries/pushed.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { type CommentDecision, deleteComments, writeComments } from '../sync/comments.ts'
import { writeItems } from '../sync/items.ts'
import { applyReported } from './apply-reported.ts'
import type { Refetch } from './batch.ts'

type ReportedComment = { id: string } & Extract<PushChange, { kind: 'comment' }>

interface CommentBatch {
  clock: Clock
  /** Locked. */
  connection: ConnectionRow
  reported: ReportedComment[]
}

/** Applies deliveries about comments as far as possible without the code host, after those about issues. */
export async function applyComments(
  repos: BoundRepositories,
  { clock, connection, reported }: CommentBatch,
): Promise<{ settled: Settlement[]; refetches: Refetch[] }> {
  const settled: Settlement[] = []
  const { projectId, repositoryId } = connection
  const { deleted = [], written = [] } = Object.groupBy(reported, ({ isDeleted }) =>
    isDeleted ? 'deleted' : 'written',
  )

  const gone = await deleteComments(repos, { clock, connection, externalIds: deleted.map(externalIdOf) })
  const taskIds = new Map(gone.map(({ externalId, taskId }) => [externalId, taskId]))
  for (const delivery of deleted) {
    const taskId = taskIds.get(externalIdOf(delivery))
    settled.push({ id: delivery.id, outcome: 'updated', reason: taskId ? null : 'unchanged', taskId })
  }

  await writeUnknownItems(repos, { clock, connection, reported: written })
  const externalIds = [...new Set(written.map(externalIdOf))]
  const stored = await repos.syncedComments.list(projectId, { repositoryId, externalIds })
  const outcome = await applyReported(
    written.map(({ id, comment }) => ({ id, state: comment })),
    {
      now: clock.now(),
      keyOf: ({ externalId }) => externalId,
      known: new Map(stored.map((row) => [row.externalId, row])),
      gone: await repos.pushedDeliveries.listDeletedComments(connection.id, externalIds),
      taskIdOf: ({ taskId }) => taskId,
      write: (comments) => writeComments(repos, { clock, connection, comments }),
      settlementOf: commentSettlement,
    },
  )
  settled.push(...outcome.settled)
  const refetches = outcome.unclear.map(({ state: { externalId, number }, ids }) => ({
    about: 'comment' as const,
    externalId,
    number,
    ids,
  }))
  return { settled, refetches }
}

export const commentSettlement = (id: string, { outcome, reason, taskId }: CommentDecision): Settlement => ({
  id,
  outcome: 'updated',
  reason: reason ?? (outcome === 'unchanged' ? 'unchanged' : null),
  taskId,
})

/** What changes whenever the code host's side of a stored comment does. */
export const stateOf = (stored: SyncedCommentRow | undefined): string | null =>
  stored ? `${stored.hostUpdatedAt?.getTime()} ${stored.bodyHash}` : null

const externalIdOf = ({ comment }: ReportedComment) => comment.externalId

/** A comment may arrive before its issue, which its delivery contains. */
async function writeUnknownItems(
  repos: BoundRepositories,
  { clock, connection, reported }: CommentBatch,
): Promise<void> {
  const { projectId, repositoryId } = connection
  const byNumber = Map.groupBy(reported, ({ item }) => item.number)
  const numbers = [...byNumber.keys()]
  const unknown = await repos.syncedTasks.listUnknown(projectId, { repositoryId, numbers })
  const gone = await repos.pushedDeliveries.listGone(connection.id, unknown)
  const items = unknown
    .filter((number) => !gone.includes(number))
    .flatMap((number) => {
      const decision = decideReported(
        (byNumber.get(number) ?? []).map(({ item }) => item),
        { known: undefined, now: clock.now() },
      )
      if (decision.verdict === 'apply') return decision.newest
      // If two differ within a second, or their time is wrong, the next change or poll brings the newer one.
      const latest = byNumber.get(number)?.at(-1)?.item
      return latest ? { ...latest, updatedAt: null } : []
    })
  if (items.length > 0) await writeItems(repos, { clock, connection, items })
}
