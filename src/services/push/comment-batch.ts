import { decideReported, type PushChange } from '../../domain/codehost/push-change.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncedCommentRow } from '../../repositories/codehost/synced-comments.ts'
import type { Settlement } from '../../repositories/deliveries/pushed.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { type CommentDecision, deleteComments, writeComments } from '../sync/comments.ts'
import { writeItems } from '../sync/items.ts'
import type { Question } from './batch.ts'
import { OUTDATED, settledAs } from './settling.ts'

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
): Promise<{ settled: Settlement[]; questions: Question[] }> {
  const settled: Settlement[] = []
  const questions: Question[] = []
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
  const byId = Map.groupBy(written, externalIdOf)
  const externalIds = [...byId.keys()]
  const stored = await repos.syncedComments.list(projectId, { repositoryId, externalIds })
  const known = new Map(stored.map((row) => [row.externalId, row]))
  // The delivery of its deletion may have come first.
  const isDeleted = await repos.pushedDeliveries.listDeletedComments(connection.id, externalIds)
  const applied = []
  for (const [externalId, deliveries] of byId) {
    const ids = deliveries.map(({ id }) => id)
    const before = known.get(externalId)
    if (isDeleted.has(externalId)) {
      settled.push(...settledAs(ids, OUTDATED))
      continue
    }
    const decision = decideReported(
      deliveries.map(({ comment }) => comment),
      { known: before, now: clock.now() },
    )
    if (decision.verdict === 'ask') {
      const [{ comment } = { comment: { number: 0 } }] = deliveries
      questions.push({ about: 'comment', externalId, number: comment.number, ids })
    } else if (decision.verdict === 'outdated') {
      settled.push(...settledAs(ids, { ...OUTDATED, taskId: before?.taskId }))
    } else applied.push(decision.newest)
  }
  for (const decision of await writeComments(repos, { clock, connection, comments: applied })) {
    for (const { id } of byId.get(decision.externalId) ?? []) settled.push(commentSettlement(id, decision))
  }
  return { settled, questions }
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
