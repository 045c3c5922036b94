import { and, desc, eq, getTableColumns, isNotNull, isNull, or, type SQL, sql } from '../../db/drizzle.ts'
import { notifications, taskFollowers } from '../../db/tables/notifications.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { Executor } from '../index.ts'
import { isWithin } from '../ordered-by-index.ts'
import { isReached, type Reach } from '../reach.ts'
import { announceNotifications } from './feed.ts'

/** With the title of its task. */
export type NotificationRow = typeof notifications.$inferSelect & { taskTitle: string | null }

/** A person, and whether what concerns the whole service does so, too. */
interface Reader {
  userId: string
  isOwner: boolean
}

interface NotificationPageRequest {
  isUnread: boolean | undefined
  /** The id at the end of the previous page. */
  before: string | undefined
  limit: number
}

/** The notifications of people, and what they follow. */
export function notificationsRepository(db: Executor, reach: Reach) {
  /** The task, if it is still there and in reach. */
  const task = db
    .select({ title: tasks.title })
    .from(tasks)
    .where(
      and(eq(tasks.id, notifications.taskId), isNull(tasks.deletedAt), isReached(tasks.projectId, reach)),
    )
    .limit(1)
    .as('task')

  const isOf = ({ userId, isOwner }: Reader): SQL | undefined =>
    and(
      isWithin(notifications.userId, userId),
      or(isNotNull(task.title), isOwner ? isNull(notifications.taskId) : undefined),
    )

  return {
    /** Newest first. */
    async list(
      reader: Reader,
      { isUnread, before, limit }: NotificationPageRequest,
    ): Promise<NotificationRow[]> {
      const { id, userId, readAt } = notifications
      return db
        .select({ ...getTableColumns(notifications), taskTitle: task.title })
        .from(notifications)
        .leftJoinLateral(task, sql`true`)
        .where(
          and(
            isOf(reader),
            isUnread === undefined ? undefined : isUnread ? isNull(readAt) : isNotNull(readAt),
            before === undefined
              ? undefined
              : sql`(${userId}, ${id}) < (${reader.userId}::uuid, ${before}::uuid)`,
          ),
        )
        .orderBy(desc(userId), desc(id))
        .limit(limit)
    },

    /** How many are unread, at most `max`. */
    async countUnread(reader: Reader, max: number): Promise<number> {
      const unread = db
        .select({ id: notifications.id })
        .from(notifications)
        .leftJoinLateral(task, sql`true`)
        .where(and(isOf(reader), isNull(notifications.readAt)))
        .limit(max)
        .as('unread')
      const [row] = await db.select({ count: sql<number>`count(*)::integer` }).from(unread)
      return row?.count ?? 0
    },

    /** Marks at most `limit` unread ones as read: these, or any. Returns how many it marked. */
    async read(
      userId: string,
      { ids, now, limit }: { ids: string[] | undefined; now: Date; limit: number },
    ): Promise<number> {
      // In the order in which the job writes them, so that neither waits for the other.
      const { rowCount } = await db.execute(sql`
        update ${notifications} set read_at = ${now.toISOString()} where id = any(array(
          select id from ${notifications}
          where user_id = ${userId} and read_at is null
            and ${ids === undefined ? sql`true` : sql`id = any(${sql.param(ids)}::uuid[])`}
          order by task_id nulls last, reason limit ${limit} for update)) and read_at is null`)
      if (rowCount) await announceNotifications(db, [userId])
      return rowCount ?? 0
    },

    async isFollowing(taskId: string, userId: string): Promise<boolean> {
      const [row] = await db
        .select({ isFollowing: taskFollowers.isFollowing })
        .from(taskFollowers)
        .where(and(eq(taskFollowers.taskId, taskId), eq(taskFollowers.userId, userId)))
      return row?.isFollowing ?? false
    },

    /** Stores what a person has decided. */
    async setFollowing(row: typeof taskFollowers.$inferInsert): Promise<void> {
      const { isFollowing, changedAt } = row
      await db
        .insert(taskFollowers)
        .values(row)
        .onConflictDoUpdate({
          target: [taskFollowers.taskId, taskFollowers.userId],
          set: { isFollowing, changedAt },
        })
    },
  }
}
