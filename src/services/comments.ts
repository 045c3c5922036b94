import { isConnected } from '../domain/codehost/write-back.ts'
import { orderById } from '../domain/cursor.ts'
import { allows } from '../domain/key-strength.ts'
import type { ActorRef } from '../domain/new-task.ts'
import type { Operations } from '../domain/operation.ts'
import { decideEnd, decideQuestion, endsQuestion, type QuestionOutcome } from '../domain/question.ts'
import { commentManagedByCodehost, commentNotFound, commentOfAnother, taskNotFound } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { CommentBeginning, CommentRow } from '../repositories/comments.ts'
import type { BoundRepositories, Repositories } from '../repositories/index.ts'
import type { TaskRow } from '../repositories/tasks.ts'
import type { Comment, CommentChange, CommentQuery, NewComment, WrittenComment } from '../schemas/comment.ts'
import type { AssistantComment } from '../schemas/tool-results.ts'
import type { Caller } from './access.ts'
import { activityRow, actorOf, changeLog } from './activity/row.ts'
import { type Page, readPage } from './page.ts'
import { recordComment } from './tasks/host-writes.ts'
import { type LockedTasks, lockTasks, writableTask } from './tasks/locks.ts'
import { mayReadTasks } from './tasks/view.ts'

/** A comment has up to 256 KiB. */
const MAX_AT_ONCE = 10

/** For assistants: how many comments, and how much of each. */
const LATEST_COMMENTS = 20
const MAX_BODY_LENGTH = 4_000

/** For assistants: of all bodies together, about 4,000 tokens. */
const MAX_TOTAL_LENGTH = 16_000

export const commentOperations = {
  create: { scope: 'tasks:write' },
  list: { scope: 'tasks:read' },
  latest: { scope: 'tasks:read' },
  get: { scope: 'tasks:read' },
  update: { scope: 'tasks:write' },
  delete: { scope: 'tasks:write' },
} satisfies Operations<ReturnType<typeof commentsService>>

/** Comments on tasks. They change under the lock of their task, and change no version of it. */
export function commentsService({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const log = changeLog(clock)

  return {
    /**
     * Adds a comment, which can ask a question or answer it.
     * @throws task_not_found, project_archived; for a question also task_done, merge_conflict, task_claimed
     */
    async create(
      caller: Caller,
      { taskId, comment }: { taskId: string; comment: NewComment },
    ): Promise<WrittenComment> {
      const { body, isPublic = false } = comment
      return repos.within(caller).transaction(async (repos) => {
        const locked = await lockTasks(repos, { ids: [taskId] })
        const task = writableTask(locked, taskId)
        const now = clock.now()
        const author = actorOf(caller)
        const row: CommentRow = {
          id: clock.newId(now),
          taskId: task.id,
          body,
          authorType: author.type,
          authorId: author.id,
          authorName: author.name,
          authorUrl: null,
          isPublic,
          externalId: null,
          externalUrl: null,
          hostUpdatedAt: null,
          createdAt: now,
          updatedAt: now,
        }
        const { channel } = caller
        const questioned = comment.needsAnswer
          ? decideQuestion(task, { commentId: row.id, actor: author, channel, now })
          : endsQuestion(channel) && decideEnd(task, { actor: author, channel, commentId: row.id, now })
        const commentCount = await repos.comments.insert(row)
        const { metadata, ...about } = aboutComment(row, { ...task, commentCount })
        const asks = comment.needsAnswer && { needsAnswer: true }
        await log(repos, {
          type: 'comment.created',
          caller,
          now,
          ...about,
          metadata: { ...metadata, ...asks },
        })
        if (questioned) await write(repos, { task, actor: author, outcome: questioned })
        await recordComment(repos, { clock, now, change: 'created', comment: row, task, locked })
        return writtenFor(caller, row)
      })
    },

    /** @throws task_not_found, invalid_cursor */
    async list(
      caller: Caller,
      { taskId, query: { sort = 'createdAt', ...request } }: { taskId: string; query: CommentQuery },
    ): Promise<Page<Comment>> {
      const bound = repos.within(caller)
      if (!(await bound.tasks.find(taskId))) throw taskNotFound(taskId)
      return readPage({
        order: orderById(`comments ${sort}`),
        request,
        maxAtOnce: MAX_AT_ONCE,
        async read(after, limit) {
          const rows = await bound.comments.list(taskId, {
            after,
            isDescending: sort === '-createdAt',
            limit,
          })
          return rows.map(toComment)
        },
      })
    },

    /** The latest comments for an assistant, oldest first, as far as their texts together are short enough. */
    async latest(caller: Caller, taskId: string): Promise<AssistantComment[]> {
      const newestFirst = await repos
        .within(caller)
        .comments.listBeginnings(taskId, { limit: LATEST_COMMENTS, maxLength: MAX_BODY_LENGTH })
      let length = 0
      const isShown = ({ body }: CommentBeginning) => {
        length += body.length
        return length <= MAX_TOTAL_LENGTH
      }
      const firstOmitted = newestFirst.findIndex((comment) => !isShown(comment))
      const shown = firstOmitted === -1 ? newestFirst : newestFirst.slice(0, firstOmitted)
      return shown.toReversed().map(toAssistantComment)
    },

    /** @throws comment_not_found */
    async get(caller: Caller, id: string): Promise<Comment> {
      const row = await repos.within(caller).comments.find(id)
      if (!row) throw commentNotFound(id)
      return toComment(row)
    },

    /** @throws comment_not_found, insufficient_scope, managed_by_codehost, project_archived */
    async update(
      caller: Caller,
      { id, change: { body } }: { id: string; change: CommentChange },
    ): Promise<WrittenComment> {
      return repos.within(caller).transaction(async (repos) => {
        const { comment, task, locked } = await lockedComment(repos, { caller, id })
        if (body === undefined || body === comment.body) return writtenFor(caller, comment)
        const now = clock.now()
        const change = { body, updatedAt: now }
        await repos.comments.update(comment.id, change)
        await log(repos, { type: 'comment.updated', caller, now, ...aboutComment(comment, task) })
        await recordComment(repos, { clock, now, change: 'updated', comment, task, locked })
        return writtenFor(caller, { ...comment, ...change })
      })
    },

    /** @throws comment_not_found, insufficient_scope, managed_by_codehost, project_archived */
    async delete(caller: Caller, id: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const { comment, task, locked } = await lockedComment(repos, { caller, id })
        const now = clock.now()
        const commentCount = await repos.comments.delete(comment)
        const about = aboutComment(comment, { ...task, commentCount })
        await log(repos, { type: 'comment.deleted', caller, now, ...about })
        const actor = actorOf(caller)
        const isAsking = task.question?.commentId === comment.id
        const outcome = isAsking && decideEnd(task, { actor, channel: caller.channel, now })
        if (outcome) await write(repos, { task, actor, outcome })
        await recordComment(repos, { clock, now, change: 'deleted', comment, task, locked })
      })
    },
  }

  /** Writes what a comment does to the question of its task. */
  async function write(
    repos: BoundRepositories,
    {
      task: { id: taskId, projectId },
      actor,
      outcome: { update, activities },
    }: { task: TaskRow; actor: ActorRef; outcome: QuestionOutcome },
  ): Promise<void> {
    await repos.tasks.update(taskId, update)
    const about = { now: update.updatedAt, actor, taskId, projectId }
    await repos.activity.insert(activities.map((activity) => activityRow(clock, { ...about, ...activity })))
  }
}

/** Converts a row to its API type. */
const toComment = (row: CommentRow): Comment => ({
  id: row.id,
  taskId: row.taskId,
  body: row.body,
  author: { type: row.authorType, id: row.authorId, name: row.authorName, url: row.authorUrl },
  isPublic: row.isPublic,
  externalUrl: row.externalUrl,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

const toAssistantComment = ({
  authorType,
  authorName,
  createdAt,
  ...rest
}: CommentBeginning): AssistantComment => ({
  ...rest,
  authorType,
  author: authorName,
  createdAt: createdAt.toISOString(),
})

/** What a caller without `tasks:read` receives after a write. */
export const onlyId = ({ id }: WrittenComment): WrittenComment => ({ id })

function writtenFor(caller: Caller, row: CommentRow): WrittenComment {
  const comment = toComment(row)
  return mayReadTasks(caller) ? comment : onlyId(comment)
}

/** The subject of an activity. The body is not logged: deleting a comment deletes all its copies. */
const aboutComment = (
  { id, authorName }: CommentRow,
  { id: taskId, projectId, commentCount }: Pick<TaskRow, 'id' | 'projectId' | 'commentCount'>,
) => ({ taskId, projectId, metadata: { commentId: id, author: authorName, commentCount } })

/** Finds a comment that the caller may change, and locks its task. */
async function lockedComment(repos: BoundRepositories, { caller, id }: { caller: Caller; id: string }) {
  const seen = await repos.comments.find(id)
  if (!seen) throw commentNotFound(id)
  const locked = await lockTasks(repos, { ids: [seen.taskId] })
  if (isManaged(seen, locked)) throw commentManagedByCodehost()
  if (seen.authorId !== caller.principal.id && !allows(caller.scopes, 'admin')) throw commentOfAnother()
  // Another request may have deleted either before the lock.
  const comment = await repos.comments.find(id)
  if (!comment) throw commentNotFound(id)
  return { comment, task: writableTask(locked, comment.taskId), locked }
}

/** Whether the comment belongs to the code host: until its repository is disconnected. */
function isManaged({ authorType, taskId }: CommentRow, { tasks, connections }: LockedTasks): boolean {
  const task = tasks.get(taskId)
  return authorType === 'codehost' && task !== undefined && isConnected(task, connections.get(task.projectId))
}
