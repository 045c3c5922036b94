import { type CodehostComment, compareComment, hostColumns } from '../../domain/codehost/comment.ts'
import { postedIdIn } from '../../domain/codehost/posted-comment.ts'
import { endsQuestionAtHost } from '../../domain/question.ts'
import type { Clock } from '../../lib/clock.ts'
import { slicesBySize } from '../../lib/slices-by-size.ts'
import type { ActivityRow } from '../../repositories/activity.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { Snapshot } from '../../repositories/codehost/stored-since.ts'
import type { SyncedCommentRow } from '../../repositories/codehost/synced-comments.ts'
import type { CommentedTask } from '../../repositories/codehost/synced-tasks.ts'
import type { CommentRow } from '../../repositories/comments.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { activityRow } from '../activity/row.ts'
import { MAX_CHARACTERS } from './items.ts'

interface CommentsWrite {
  clock: Clock
  /** Locked. */
  connection: ConnectionRow
}

/** The outcome of a comment that the code host has. */
export interface CommentDecision {
  externalId: string
  outcome: 'created' | 'updated' | 'unchanged' | 'skipped'
  /** Why it was skipped. */
  reason?: 'deleted_here' | 'outdated'
  /** As of items. */
  isUncertain?: true
  taskId?: string
}

/**
 * Writes comments of the code host with their activity, whoever brings them; their tasks exist, or never will. Comments
 * on deleted tasks are written without activity: the task may be restored.
 */
export async function writeComments(
  repos: BoundRepositories,
  {
    clock,
    connection,
    comments,
    asOf,
  }: CommentsWrite & {
    comments: CodehostComment[]
    /** As of items. */
    asOf?: Snapshot | undefined
  },
): Promise<CommentDecision[]> {
  const { projectId, repositoryId } = connection
  const externalIds = comments.map(({ externalId }) => externalId)
  const tasks = await lockedTasks(repos, { connection, numbers: comments.map(({ number }) => number) })
  const stored = await repos.syncedComments.list(projectId, { repositoryId, externalIds, asOf })
  const known = new Map(stored.map((row) => [row.externalId, row]))
  const deleted = await repos.pushedDeliveries.listDeletedComments(connection.id, externalIds)
  const own = await adoptOwn(repos, {
    comments: comments.filter(({ externalId }) => !known.has(externalId)),
    tasks,
  })
  const log = commentLog(clock, connection)
  const written: { row: CommentRow; activity: ActivityRow[] }[] = []

  // In the order of their creation, which their ids keep.
  const decisions = comments.toSorted(byCreation).map((comment): CommentDecision => {
    const { externalId } = comment
    const task = tasks.get(comment.number)
    if (!task) return { externalId, outcome: 'skipped', reason: 'deleted_here' }
    if (own.has(externalId)) return { externalId, taskId: task.id, outcome: 'unchanged' }
    const before = known.get(externalId)
    // A response that was read before the deletion.
    if (!before && deleted.has(externalId)) return { externalId, outcome: 'skipped', reason: 'outdated' }
    const change = compareComment(comment, before)
    const decision = { externalId, taskId: task.id }
    if (change === 'unchanged') return { ...decision, outcome: 'unchanged' }
    if (change === 'uncertain') return { ...decision, outcome: 'unchanged', isUncertain: true }
    const row = before
      ? changedRow(before, { comment, isEdited: change === 'edited', clock })
      : newRow(comment, { task, clock })
    if (!before) task.commentCount++
    const type = change === 'created' ? 'comment.created' : 'comment.updated'
    written.push({ row, activity: change === 'refreshed' ? [] : log(type, { row, task }) })
    return { ...decision, outcome: change === 'created' ? 'created' : 'updated' }
  })
  for (const slice of slicesBySize(written, {
    maxSize: MAX_CHARACTERS,
    sizeOf: ({ row }) => row.body.length,
  })) {
    await repos.syncedComments.upsert(
      slice.map(({ row }) => row),
      slice.flatMap(({ activity }) => activity),
    )
  }
  const changed = new Set(decisions.flatMap(({ outcome, taskId }) => (outcome === 'created' ? taskId : [])))
  await repos.syncedComments.saveCounts([...tasks.values()].filter(({ id }) => changed.has(id)))
  const added = new Set(
    decisions.flatMap(({ outcome, externalId }) => (outcome === 'created' ? externalId : [])),
  )
  const freed = comments.flatMap((comment) => {
    const task = added.has(comment.externalId) ? tasks.get(comment.number) : undefined
    return task?.question && endsQuestionAtHost(comment, task.question) ? task : []
  })
  await endQuestions(repos, { clock, connection, tasks: new Set(freed) })
  return decisions
}

/** Ends the questions of tasks that were answered at the code host. */
async function endQuestions(
  repos: BoundRepositories,
  { clock, connection, tasks: freed }: CommentsWrite & { tasks: ReadonlySet<CommentedTask> },
): Promise<void> {
  const tasks = [...freed]
  if (tasks.length === 0) return
  const now = clock.now()
  await repos.tasks.updateMany(
    tasks.map(({ id }) => id),
    { question: null, updatedAt: now },
  )
  const { id, projectId, repository: name } = connection
  const about = { now, type: 'task.updated', actor: { type: 'codehost' as const, id, name }, projectId }
  await repos.activity.insert(
    tasks
      .filter(({ deletedAt }) => !deletedAt)
      .map(({ id: taskId, question }) => {
        const metadata = { changes: { question: { from: question, to: null } } }
        return activityRow(clock, { ...about, taskId, metadata })
      }),
  )
}

/** Which comments were written here, and are not known as such yet: the response of the write comes later, or was lost. */
async function adoptOwn(
  repos: BoundRepositories,
  { comments, tasks }: { comments: CodehostComment[]; tasks: Map<number | null, CommentedTask> },
): Promise<Set<string>> {
  const posted = comments.flatMap((comment) => {
    const id = postedIdIn(comment.body)
    const taskId = tasks.get(comment.number)?.id
    return id === undefined || taskId === undefined ? [] : [{ id, taskId, comment }]
  })
  const writes = await repos.codehostWrites.listComments(posted.map(({ id }) => id))
  const own = new Set<string>()
  for (const { id, taskId, comment } of posted) {
    const write = writes.find((write) => write.commentId === id && write.taskId === taskId)
    const stored = await repos.comments.findPosted(id)
    // The write is deleted if write-back is turned off, or the repository disconnected, while the request is under way.
    const isWrittenHere =
      stored?.taskId === taskId && stored.isPublic && stored.authorType !== 'codehost' && !stored.externalId
    if (!write && !isWrittenHere) continue
    const externalId = (stored ? stored.externalId : write?.payload.externalId) ?? null
    // A copy of a comment that was written here has its id, too.
    if (externalId !== null && externalId !== comment.externalId) continue
    if (stored) await repos.comments.link(id, comment)
    own.add(comment.externalId)
  }
  return own
}

/** Deletes comments that the code host no longer has; returns those that were stored. Comments written here are kept. */
export async function deleteComments(
  repos: BoundRepositories,
  { clock, connection, externalIds }: CommentsWrite & { externalIds: string[] },
): Promise<SyncedCommentRow[]> {
  const { projectId, repositoryId } = connection
  const list = () => repos.syncedComments.list(projectId, { repositoryId, externalIds })
  const tasks = await lockedTasks(repos, { connection, numbers: (await list()).map(({ number }) => number) })
  const log = commentLog(clock, connection)
  // Another request may have deleted some of them before the lock.
  const gone = (await list()).filter(({ authorType }) => authorType === 'codehost')
  const activities = gone.flatMap((row) => {
    const task = tasks.get(row.number)
    if (!task) return []
    task.commentCount--
    return log('comment.deleted', { row, task })
  })
  if (gone.length === 0) return []
  await repos.syncedComments.delete(gone.map(({ id }) => id))
  await repos.syncedComments.saveCounts([...tasks.values()])
  await repos.activity.insert(activities)
  return gone
}

async function lockedTasks(
  { syncedTasks }: BoundRepositories,
  { connection: { projectId, repositoryId }, numbers }: { connection: ConnectionRow; numbers: number[] },
): Promise<Map<number | null, CommentedTask>> {
  if (numbers.length === 0) return new Map()
  const rows = await syncedTasks.lockForComments(projectId, { repositoryId, numbers: [...new Set(numbers)] })
  return new Map(rows.map((task) => [task.codehostNumber, task]))
}

const byCreation = (a: CodehostComment, b: CodehostComment) =>
  (a.createdAt?.getTime() ?? 0) - (b.createdAt?.getTime() ?? 0) ||
  (BigInt(a.externalId) < BigInt(b.externalId) ? -1 : 1)

function newRow(
  comment: CodehostComment,
  { task, clock }: { task: CommentedTask; clock: Clock },
): CommentRow {
  const columns = hostColumns(comment)
  const createdAt = comment.createdAt ?? clock.now()
  return {
    id: clock.newId(createdAt),
    taskId: task.id,
    authorType: 'codehost',
    authorId: null,
    isPublic: true,
    externalId: comment.externalId,
    createdAt,
    ...columns,
    updatedAt: columns.hostUpdatedAt ?? createdAt,
  }
}

function changedRow(
  { bodyHash, ...before }: SyncedCommentRow,
  { comment, isEdited, clock }: { comment: CodehostComment; isEdited: boolean; clock: Clock },
): CommentRow {
  const columns = hostColumns(comment)
  const hostUpdatedAt = columns.hostUpdatedAt ?? before.hostUpdatedAt
  const updatedAt = isEdited ? (hostUpdatedAt ?? clock.now()) : before.updatedAt
  return { ...before, ...columns, hostUpdatedAt, updatedAt }
}

/** Returns a function that builds the activity of a change. The body is not logged: deleting a comment deletes it. */
function commentLog(clock: Clock, { id, projectId, repository: name }: ConnectionRow) {
  const actor = { type: 'codehost' as const, id, name }
  const now = clock.now()
  return (
    type: 'comment.created' | 'comment.updated' | 'comment.deleted',
    {
      row: { id: commentId, authorName: author },
      task: { id: taskId, deletedAt, commentCount },
    }: { row: Pick<CommentRow, 'id' | 'authorName'>; task: CommentedTask },
  ): ActivityRow[] => {
    const metadata = { commentId, author, commentCount }
    return deletedAt ? [] : [activityRow(clock, { now, type, actor, taskId, projectId, metadata })]
  }
}
