import { and, asc, eq, isNotNull, type SQL, sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { recordset } from '../../db/recordset.ts'
import { activity } from '../../db/tables/activity.ts'
import { comments } from '../../db/tables/comments.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { ActivityRow } from '../activity.ts'
import type { CommentRow } from '../comments.ts'
import type { Executor } from '../index.ts'
import { isReached, type Reach } from '../reach.ts'
import { opaque } from '../task-page-conditions.ts'
import { activitySet } from '../tasks.ts'
import { isStoredSince, type Snapshot } from './stored-since.ts'

/** A stored comment of the code host; of its body only the hash is read. */
export type SyncedCommentRow = Omit<CommentRow, 'body' | 'externalId'> & {
  externalId: string
  bodyHash: string
}

const commentSet = recordset(comments)

const upsertComments = preparedStatement<object>(
  'upsert comments',
  sql`
    with written as (
      insert into ${comments} (${commentSet.names}) ${commentSet.select('comments')}
      on conflict (id) do update set body = excluded.body, author_name = excluded.author_name,
        author_url = excluded.author_url, external_url = excluded.external_url,
        host_updated_at = excluded.host_updated_at, updated_at = excluded.updated_at
    ), logged as (
      insert into ${activity} (${activitySet.names}) ${activitySet.select('activities')}
    )
    select`,
)

/** The comments of a sync, by their ids at the code host. Writes require the lock of their tasks. */
export function syncedCommentsRepository(db: Executor, reach: Reach) {
  const inReach = isReached(tasks.projectId, reach)
  /** Looked up for each comment, with a limit: PostgreSQL does not turn that around, and read all tasks of a project. */
  const taskOf = (...conditions: (SQL | undefined)[]) =>
    db
      .select({ codehostNumber: tasks.codehostNumber })
      .from(tasks)
      .where(and(eq(tasks.id, comments.taskId), inReach, ...conditions))
      .limit(1)
      .as('task')
  const isOneOf = (externalIds: string[]) =>
    sql`${comments.externalId} = any(${sql.param(externalIds)}::bigint[])`

  return {
    /** The stored comments with one of these ids. */
    async list(
      projectId: string,
      {
        repositoryId,
        externalIds,
        asOf,
      }: { repositoryId: number; externalIds: string[]; asOf?: Snapshot | undefined },
    ): Promise<
      (SyncedCommentRow & { number: number /** `asOf` that snapshot. */; isStoredSince: boolean })[]
    > {
      if (externalIds.length === 0) return []
      const task = taskOf(eq(tasks.projectId, projectId), eq(tasks.codehostRepositoryId, repositoryId))
      return db
        .select({
          id: comments.id,
          taskId: comments.taskId,
          externalId: sql<string>`${comments.externalId}`,
          authorType: comments.authorType,
          authorId: comments.authorId,
          authorName: comments.authorName,
          authorUrl: comments.authorUrl,
          isPublic: comments.isPublic,
          externalUrl: comments.externalUrl,
          hostUpdatedAt: comments.hostUpdatedAt,
          createdAt: comments.createdAt,
          updatedAt: comments.updatedAt,
          number: sql<number>`${task.codehostNumber}`,
          bodyHash: sql<string>`encode(sha256(convert_to(${comments.body}, 'UTF8')), 'hex')`,
          isStoredSince: isStoredSince(comments, asOf),
        })
        .from(comments)
        .innerJoinLateral(task, sql`true`)
        .where(isOneOf(externalIds))
    },

    /**
     * Ids of the host's comments on tasks of items that it still has, in order: those after one and up to another, null
     * being the first and the last, without the excepted ones.
     */
    async listExternalIds(
      projectId: string,
      range: {
        repositoryId: number
        after: string | null
        until: string | null
        except: string[]
        limit: number
      },
    ): Promise<string[]> {
      const { externalId } = comments
      const task = taskOf(
        eq(tasks.projectId, projectId),
        eq(tasks.codehostRepositoryId, range.repositoryId),
        eq(tasks.sourceState, 'present'),
      )
      const rows = await db
        .select({ externalId: sql<string>`${externalId}` })
        .from(comments)
        .innerJoinLateral(task, sql`true`)
        .where(
          and(
            isNotNull(externalId),
            opaque(eq(comments.authorType, 'codehost')),
            range.after === null ? undefined : sql`${externalId} > ${range.after}::bigint`,
            range.until === null ? undefined : sql`${externalId} <= ${range.until}::bigint`,
            sql`${externalId} <> all(${sql.param(range.except)}::bigint[])`,
          ),
        )
        .orderBy(asc(externalId))
        .limit(range.limit)
      return rows.map(({ externalId }) => externalId)
    },

    /** Writes new and changed comments with their activity, in one statement. */
    async upsert(rows: CommentRow[], activities: ActivityRow[]): Promise<void> {
      if (rows.length === 0) return
      const values = {
        comments: Buffer.from(JSON.stringify(rows)),
        activities: JSON.stringify(activities),
      }
      await upsertComments(db, values)
    },

    async delete(ids: string[]): Promise<void> {
      await db.delete(comments).where(sql`${comments.id} = any(${sql.param(ids)}::uuid[])`)
    },

    /** Stores how many comments each task has now. */
    async saveCounts(counts: { id: string; commentCount: number }[]): Promise<void> {
      if (counts.length === 0) return
      await db.execute(sql`
        update ${tasks} set comment_count = c.count
        from unnest(
          ${sql.param(counts.map(({ id }) => id))}::uuid[],
          ${sql.param(counts.map(({ commentCount }) => commentCount))}::integer[]) as c(id, count)
        where ${tasks}.id = c.id`)
    },
  }
}
