import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ErrorCode } from '../errors/index.ts'
import {
  NotificationPage,
  NotificationQuery,
  ReadNotifications,
  TaskFollow,
  UnreadCount,
} from '../schemas/notification.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { notificationOperations } from '../services/notifications/index.ts'

const tags = ['Notifications']

/** The notifications of a person. */
export const notificationsRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'notifications'>> = async (
  app,
  { notifications },
) => {
  app.get(
    '',
    {
      config: { operation: notificationOperations.list, errors: ['person_required', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listNotifications',
        summary: 'List notifications',
        description:
          'Returns a page of your notifications, newest first. Only for people: signed in, or with a personal key. A repeat of an unread notification counts in it, and moves it to the top. What you can’t read any more is omitted: tasks that are deleted, or in projects that you lost access to. Notifications that were read are deleted after 30 days.',
        querystring: NotificationQuery,
        response: { 200: responses(NotificationPage, { description: 'A page of notifications.' }) },
      },
    },
    (request) => notifications.list(request.caller, request.query),
  )

  app.get(
    '/unread',
    {
      config: { operation: notificationOperations.countUnread, errors: ['person_required'] },
      schema: {
        tags,
        operationId: 'countUnreadNotifications',
        summary: 'Count unread notifications',
        description:
          'Returns how many of your notifications are unread. The stream sends you an event `notification.changed` whenever that may have changed.',
        response: { 200: responses(ref(UnreadCount), { description: 'The number.' }) },
      },
    },
    (request) => notifications.countUnread(request.caller),
  )

  app.post(
    '/read',
    {
      config: { operation: notificationOperations.read, errors: ['person_required'] },
      schema: {
        tags,
        operationId: 'readNotifications',
        summary: 'Mark notifications as read',
        description:
          'Marks some of your notifications as read, or all of them. One that was repeated since you have listed it has another ID, and stays unread.',
        body: ref(ReadNotifications),
        response: { 200: responses(ref(UnreadCount), { description: 'How many are still unread.' }) },
      },
    },
    (request) => notifications.read(request.caller, request.body),
  )
}

/** Which tasks a person follows. */
export const followsRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'notifications'>> = async (
  app,
  { notifications },
) => {
  const errors: ErrorCode[] = ['person_required', 'task_not_found']

  app.get(
    '/:id/follow',
    {
      config: { operation: notificationOperations.isFollowing, errors },
      schema: {
        tags,
        operationId: 'isFollowingTask',
        summary: 'Retrieve whether you follow a task',
        description: 'Returns whether you are notified when somebody comments on the task.',
        params: IdPath('task'),
        response: { 200: responses(ref(TaskFollow), { description: 'Whether you follow it.' }) },
      },
    },
    (request) => notifications.isFollowing(request.caller, request.params.id),
  )

  app.put(
    '/:id/follow',
    {
      config: { operation: notificationOperations.follow, errors },
      schema: {
        tags,
        operationId: 'followTask',
        summary: 'Follow a task',
        description:
          'From now on, you are notified when somebody comments on the task. You follow a task by itself once you create it, comment on it, are assigned to it, or are mentioned in it.',
        params: IdPath('task'),
        response: { 200: responses(ref(TaskFollow), { description: 'You follow it.' }) },
      },
    },
    (request) => notifications.follow(request.caller, { taskId: request.params.id, isFollowing: true }),
  )

  app.delete(
    '/:id/follow',
    {
      config: { operation: notificationOperations.follow, errors },
      schema: {
        tags,
        operationId: 'unfollowTask',
        summary: 'Stop following a task',
        description:
          'You aren’t notified of comments any more, until you comment on the task, are assigned to it, or are mentioned in it again.',
        params: IdPath('task'),
        response: { 204: emptyResponse('You don’t follow it.') },
      },
    },
    async (request, reply) => {
      await notifications.follow(request.caller, { taskId: request.params.id, isFollowing: false })
      return reply.status(204).send(null)
    },
  )
}
