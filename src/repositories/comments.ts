import { and, asc, desc, eq, getTableColumns, gt, isNull, lt, sql } from '../db/drizzle.ts'
import { comments } from '../db/tables/comments.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'
import { isReached, type Reach } from './reach.ts'

export type CommentRow = typeof comments.$inferSelect

/** A comment without the rest of a long body. */
export interface CommentBeginning
  extends Pick<CommentRow, 'id' | 'authorType' | 'authorName' | 'createdAt' | 'body'> {
  isCut: boolean
}

type PostedColumn = 'id' | 'taskId' | 'body' | 'authorType' | 'authorName' | 'isPublic' | 'externalId'

interface CommentPageRequest {
  /** The id at the end of the previous page. */
  after: string | undefined
  isDescending: boolean
  limit: number
}

/** The comments on tasks that are not deleted. Writes require the lock of the task, which has their number. */
export function commentsRepository(db: Executor, reach: Reach) {
  const isReadable = and(isNull(tasks.deletedAt), isReached(tasks.projectId, reach))
  async function count(taskId: string, difference: 1 | -1): Promise<number> {
    const [row] = await db
      .update(tasks)
      // Whoever comments has decided about the task.
      .set({
        commentCount: sql`${tasks.commentCount} + ${difference}`,
        ...(difference > 0 && { triaged: true }),
      })
      .where(eq(tasks.id, taskId))
      .returning({ commentCount: tasks.commentCount })
    return row?.commentCount ?? 0
  }

  return {
    /** Returns how many comments the task has now. */
    async insert(row: CommentRow): Promise<number> {
      await db.insert(comments).values(row)
      return count(row.taskId, 1)
    },

    async find(id: string): Promise<CommentRow | undefined> {
      const [row] = await db
        .select(getTableColumns(comments))
        .from(comments)
        .innerJoin(tasks, eq(tasks.id, comments.taskId))
        .where(and(eq(comments.id, id), isReadable))
      return row
    },

    async list(taskId: string, { after, isDescending, limit }: CommentPageRequest): Promise<CommentRow[]> {
      const isAfter = isDescending ? lt : gt
      return db
        .select(getTableColumns(comments))
        .from(comments)
        .innerJoin(tasks, eq(tasks.id, comments.taskId))
        .where(
          and(
            eq(comments.taskId, taskId),
            after === undefined ? undefined : isAfter(comments.id, after),
            isReadable,
          ),
        )
        .orderBy(isDescending ? desc(comments.id) : asc(comments.id))
        .limit(limit)
    },

    /** Newest first, with at most `maxLength` characters of each body. */
    async listBeginnings(
      taskId: string,
      { limit, maxLength }: { limit: number; maxLength: number },
    ): Promise<CommentBeginning[]> {
      return db
        .select({
          id: comments.id,
          authorType: comments.authorType,
          authorName: comments.authorName,
          createdAt: comments.createdAt,
          body: sql<string>`left(${comments.body}, ${maxLength})`,
          isCut: sql<boolean>`char_length(${comments.body}) > ${maxLength}`,
        })
        .from(comments)
        .innerJoin(tasks, eq(tasks.id, comments.taskId))
        .where(and(eq(comments.taskId, taskId), isReadable))
        .orderBy(desc(comments.id))
        .limit(limit)
    },

    /** What is written to the code host of a comment, also on a deleted task. */
    async findPosted(id: string): Promise<Pick<CommentRow, PostedColumn> | undefined> {
      const { taskId, body, authorType, authorName, isPublic, externalId } = comments
      const [row] = await db
        .select({ id: comments.id, taskId, body, authorType, authorName, isPublic, externalId })
        .from(comments)
        .where(eq(comments.id, id))
      return row
    },

    /** Stores where a comment that was written here is at the code host. */
    async link(
      id: string,
      { externalId, url, updatedAt }: { externalId: string; url: string | null; updatedAt: string | null },
    ): Promise<void> {
      const hostUpdatedAt = updatedAt === null ? null : new Date(updatedAt)
      await db
        .update(comments)
        .set({ externalId, externalUrl: url, hostUpdatedAt })
        .where(eq(comments.id, id))
    },

    async update(id: string, change: Pick<CommentRow, 'body' | 'updatedAt'>): Promise<void> {
      await db.update(comments).set(change).where(eq(comments.id, id))
    },

    /** Returns how many comments the task has now. */
    async delete({ id, taskId }: Pick<CommentRow, 'id' | 'taskId'>): Promise<number> {
      await db.delete(comments).where(eq(comments.id, id))
      return count(taskId, -1)
    },
  }
}
