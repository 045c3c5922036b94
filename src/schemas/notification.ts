import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { Actor } from './task.ts'

export const NotificationReason = [
  'mentioned',
  'assigned',
  'commented',
  'question',
  'claim_expired',
  'broken',
] as const
export type NotificationReason = (typeof NotificationReason)[number]

/** Counting more takes longer than a request may. */
export const MAX_UNREAD_COUNT = 1_000

export const Notification = Type.Object(
  {
    id: Uuid('The ID of the notification. It is another one after each repeat.'),
    reason: StringEnum([...NotificationReason], {
      description:
        'Why you are notified. `mentioned`: a comment or the notes of a task mention you. `assigned`: somebody assigned the task to you. `commented`: somebody commented on a task that you follow. `question`: somebody asks a question about a task that is assigned to you or that you follow; owners are asked if there is nobody. `claim_expired`: your claim ended before you were done. `broken`: something that Inlet receives or sends through has begun to fail; only owners are notified.',
    }),
    taskId: Nullable(Uuid('The task, or null if it concerns the whole service.')),
    taskTitle: Nullable(Type.String({ description: 'The title of the task as it is now.' })),
    count: Type.Integer({ description: 'How many events it stands for.' }),
    actor: Type.Unsafe<Actor>({ ...ref(Actor), description: 'Who acted last.' }),
    createdAt: DateTime('When the last of these events happened.'),
    readAt: Nullable(DateTime('When it was marked as read, or null if it is unread.')),
  },
  {
    $id: 'Notification',
    description:
      'What a person is notified of. There is one unread notification for each task and reason, which counts its repeats.',
  },
)
export type Notification = Static<typeof Notification>

export const NotificationPage = PageOf(ref(Notification), { description: 'A page of notifications.' })

export const NotificationQuery = StrictObject(
  {
    unread: Type.Optional(
      Type.Boolean({ description: 'Only unread ones, or with `false`, only those that were read.' }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type NotificationQuery = Static<typeof NotificationQuery>

export const UnreadCount = Type.Object(
  {
    count: Type.Integer({
      maximum: MAX_UNREAD_COUNT,
      description: 'The number of unread notifications, up to 1,000, which then means 1,000 or more.',
    }),
  },
  { $id: 'UnreadCount', description: 'How many notifications are unread.' },
)
export type UnreadCount = Static<typeof UnreadCount>

export const ReadNotifications = StrictObject(
  {
    ids: Type.Optional(
      Type.Array(Uuid('The ID of a notification.'), {
        minItems: 1,
        maxItems: 200,
        description:
          'The notifications to mark. Those that are read, or have another ID by now, stay as they are.',
      }),
    ),
    all: Type.Optional(Type.Literal(true, { description: 'Marks all of them.' })),
  },
  {
    $id: 'ReadNotifications',
    description: 'The notifications to mark as read: `ids` or `all`.',
  },
)
export type ReadNotifications = Static<typeof ReadNotifications>

export const TaskFollow = Type.Object(
  { isFollowing: Type.Boolean({ description: 'Whether you follow the task.' }) },
  { $id: 'TaskFollow', description: 'Whether you follow a task.' },
)
export type TaskFollow = Static<typeof TaskFollow>
