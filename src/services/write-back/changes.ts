import { type CodehostComment, commentOf } from '../../domain/codehost/comment.ts'
import { type CodehostItem, itemOf } from '../../domain/codehost/item.ts'
import { postedText } from '../../domain/codehost/posted-comment.ts'
import { includesKind, reasonFor, stateFor, stateMarkOf } from '../../domain/codehost/write-back.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { WriteRow } from '../../repositories/codehost/writes.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { writeItems } from '../sync/items.ts'

/** What a write has to change at the code host now. */
export type HostChange =
  | { about: 'state'; state: 'open' | 'closed'; reason: 'completed' | 'not_planned' | 'duplicate' }
  | { about: 'new comment'; body: string }
  | { about: 'comment'; externalId: string; body: string }
  | { about: 'deletion'; externalId: string }

/** A change, and what is stored before it is sent: it may arrive although no response does. */
interface NextChange {
  change: HostChange
  payload: WriteRow['payload']
}

/** What is to be written of the state of a task; undefined if the issue has it. */
export async function nextState(
  { syncedTasks }: BoundRepositories,
  { write: { taskId }, item }: { write: WriteRow; item: CodehostItem },
): Promise<NextChange | undefined> {
  const task = await syncedTasks.findState(taskId)
  if (!task) return undefined
  const state = stateFor(task)
  if (state === task.codehostState) return undefined
  const payload = { sent: state, before: stateMarkOf(item) }
  return { change: { about: 'state', state, reason: reasonFor(task) }, payload }
}

/**
 * What is to be written of a comment; undefined if the code host has it as it is here.
 * @param found what arrived of an earlier attempt
 */
export async function nextComment(
  { comments }: BoundRepositories,
  {
    write: { commentId, payload },
    item,
    found,
  }: { write: WriteRow; item: CodehostItem; found: CodehostComment | undefined },
): Promise<NextChange | undefined> {
  const comment = commentId === null ? undefined : await comments.findPosted(commentId)
  const externalId = comment?.externalId ?? payload.externalId ?? found?.externalId
  if (!comment) {
    if (externalId === undefined) return undefined
    return { change: { about: 'deletion', externalId }, payload: { externalId } }
  }
  if (found && comment.externalId === null) await comments.link(comment.id, found)
  const body = postedText(comment)
  if (externalId === undefined) {
    return { change: { about: 'new comment', body }, payload: { since: item.updatedAt } }
  }
  if (found?.body === body) return undefined
  return { change: { about: 'comment', externalId, body }, payload: { externalId } }
}

interface ReceivedResponse {
  clock: Clock
  connection: ConnectionRow
  write: WriteRow
  change: HostChange
  response: unknown
}

/**
 * Takes the response to a change. Returns what is stored of the write if it has to be repeated, because what it is about
 * was changed again meanwhile; `done`; or `invalid` if the response is.
 */
export async function acknowledge(
  repos: BoundRepositories,
  { clock, connection, write, change, response }: ReceivedResponse,
): Promise<'done' | 'invalid' | { again: WriteRow['payload'] }> {
  if (change.about === 'deletion') return 'done'
  if (change.about === 'state') {
    const item = itemOf(response)
    if (!item) return 'invalid'
    await writeItems(repos, { clock, connection, items: [item] })
    return (await nextState(repos, { write, item })) ? { again: {} } : 'done'
  }
  const posted = commentOf(response)
  if (!posted) return 'invalid'
  const comment = write.commentId === null ? undefined : await repos.comments.findPosted(write.commentId)
  if (comment) await repos.comments.link(comment.id, posted)
  const isSame = comment && postedText(comment) === change.body
  return isSame ? 'done' : { again: { externalId: posted.externalId } }
}

interface PostedComment {
  clock: Clock
  connection: ConnectionRow | undefined
  write: WriteRow
  sent: string
  posted: CodehostComment
}

/**
 * Keeps what was posted by a write that was given up meanwhile, because write-back was turned off or the repository was
 * disconnected: the comment is known, and if write-back is on again, what became of it here is written.
 * @param connection as it is now, locked like the task
 */
export async function keepPosted(
  { comments, codehostWrites }: BoundRepositories,
  { clock, connection, write: { taskId, commentId }, sent, posted }: PostedComment,
): Promise<void> {
  const comment = commentId === null ? undefined : await comments.findPosted(commentId)
  if (comment && comment.externalId === null) await comments.link(comment.id, posted)
  const kind = !comment ? 'comment_deleted' : postedText(comment) !== sent && 'comment_updated'
  if (!kind || !connection || !includesKind(connection.writeBack, kind)) return
  const row = { id: clock.newId(clock.now()), connectionId: connection.id, taskId, commentId }
  if (comment) await codehostWrites.add([{ ...row, kind }])
  else await codehostWrites.addDeletion({ ...row, kind, externalId: posted.externalId })
  await codehostWrites.summarize([taskId])
}
