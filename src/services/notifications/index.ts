import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import { taskNotFound, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { NotificationRow } from '../../repositories/notifications/index.ts'
import {
  MAX_UNREAD_COUNT,
  type Notification,
  type NotificationQuery,
  type ReadNotifications,
  type TaskFollow,
  type UnreadCount,
} from '../../schemas/notification.ts'
import type { Caller } from '../access.ts'
import { type Page, readPage } from '../page.ts'

/** Marked as read by one statement. */
const BATCH = 1_000

const OWN = { scope: 'tasks:read', person: 'acting' } as const

export const notificationOperations = {
  list: OWN,
  countUnread: OWN,
  read: OWN,
  isFollowing: OWN,
  follow: OWN,
} satisfies Operations<ReturnType<typeof notificationsService>>

/** The notifications of a person, without what the person can't read any more, and the tasks that the person follows. */
export function notificationsService({ repos, clock }: { repos: Repositories; clock: Pick<Clock, 'now'> }) {
  return {
    /**
     * Newest first.
     * @throws invalid_cursor
     */
    async list(
      caller: Caller,
      { unread: isUnread, ...request }: NotificationQuery,
    ): Promise<Page<Notification>> {
      const { notifications } = repos.within(caller)
      return readPage({
        order: orderById('notifications'),
        request,
        async read(before, limit) {
          const rows = await notifications.list(readerOf(caller), { isUnread, before, limit })
          return rows.map(toNotification)
        },
      })
    },

    countUnread,

    /** @throws validation_failed */
    async read(caller: Caller, { ids, all }: ReadNotifications): Promise<UnreadCount> {
      if ((ids === undefined) === (all === undefined)) throw validationFailed([IDS_OR_ALL])
      const now = clock.now()
      const readSome = () =>
        repos
          .within(caller)
          .transaction(({ notifications }) =>
            notifications.read(caller.principal.id, { ids, now, limit: BATCH }),
          )
      while ((await readSome()) === BATCH);
      return countUnread(caller)
    },

    /** @throws task_not_found */
    async isFollowing(caller: Caller, taskId: string): Promise<TaskFollow> {
      const { notifications } = await withTask(caller, taskId)
      return { isFollowing: await notifications.isFollowing(taskId, caller.principal.id) }
    },

    /** @throws task_not_found */
    async follow(
      caller: Caller,
      { taskId, isFollowing }: TaskFollow & { taskId: string },
    ): Promise<TaskFollow> {
      const { notifications } = await withTask(caller, taskId)
      const changedAt = clock.now()
      await notifications.setFollowing({ taskId, userId: caller.principal.id, isFollowing, changedAt })
      return { isFollowing }
    },
  }

  async function countUnread(caller: Caller): Promise<UnreadCount> {
    const { notifications } = repos.within(caller)
    return { count: await notifications.countUnread(readerOf(caller), MAX_UNREAD_COUNT) }
  }

  /** @throws task_not_found */
  async function withTask(caller: Caller, taskId: string) {
    const bound = repos.within(caller)
    if (!(await bound.tasks.find(taskId))) throw taskNotFound(taskId)
    return bound
  }
}

const IDS_OR_ALL = { path: '', code: 'conflict', message: 'must have either `ids` or `all`' }

const readerOf = ({ principal, user }: Caller) => ({
  userId: principal.id,
  isOwner: user?.role === 'owner',
})

const toNotification = ({ actorType, actorId, actorName, ...row }: NotificationRow): Notification => ({
  id: row.id,
  reason: row.reason,
  taskId: row.taskId,
  taskTitle: row.taskTitle,
  count: row.count,
  actor: { type: actorType, id: actorId, name: actorName },
  createdAt: row.createdAt.toISOString(),
  readAt: row.readAt?.toISOString() ?? null,
})
