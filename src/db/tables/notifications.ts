import {
  bigint,
  boolean,
  check,
  index,
  integer,
  isNotNull,
  isNull,
  pgTable,
  primaryKey,
  sql,
  text,
  uniqueIndex,
  uuid,
} from '../drizzle.ts'
import { actorType, timestamptz } from './columns.ts'
import { users } from './people.ts'
import { tasks } from './tasks.ts'

const taskId = () => uuid('task_id').references(() => tasks.id, { onDelete: 'cascade' })
const userId = () =>
  uuid('user_id')
    .notNull()
    .references(() => users.id)

/** What people are notified of. A job writes it from the changes, so that it costs a write nothing. */
export const notifications = pgTable(
  'notifications',
  {
    /** UUIDv7, also the sort order. A repeat has a new one: what was not shown yet can't be marked as read. */
    id: uuid('id').primaryKey(),
    userId: userId(),
    reason: text('reason', {
      enum: ['mentioned', 'assigned', 'commented', 'question', 'claim_expired', 'broken'],
    }).notNull(),
    /** Null for what concerns the whole service. */
    taskId: taskId(),
    /** How many events it stands for. */
    count: integer('count').notNull(),
    /** Who acted last, as the next one. */
    actorType: actorType('actor_type').notNull(),
    actorId: uuid('actor_id'),
    actorName: text('actor_name').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    readAt: timestamptz('read_at'),
  },
  (table) => [
    // One unread notification for each person, task and reason.
    uniqueIndex('notifications_unread_task')
      .on(table.userId, table.taskId, table.reason)
      .where(sql`${table.readAt} is null and ${table.taskId} is not null`),
    uniqueIndex('notifications_unread_service')
      .on(table.userId, table.reason)
      .where(sql`${table.readAt} is null and ${table.taskId} is null`),
    index('notifications_user').on(table.userId, table.id),
    // `unread`, and the number of them.
    index('notifications_user_unread').on(table.userId, table.id).where(isNull(table.readAt)),
    // The task is purged.
    index('notifications_task').on(table.taskId).where(isNotNull(table.taskId)),
    // Cleanup.
    index('notifications_read').on(table.readAt).where(isNotNull(table.readAt)),
  ],
)

/** Who follows a task, or has stopped to. */
export const taskFollowers = pgTable(
  'task_followers',
  {
    taskId: taskId().notNull(),
    userId: userId(),
    isFollowing: boolean('is_following').notNull(),
    /** When the person decided, or did what makes a follower. An earlier event changes nothing. */
    changedAt: timestamptz('changed_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.taskId, table.userId] })],
)

/** Who was mentioned where: an edit only notifies those whom it adds. */
export const taskMentions = pgTable(
  'task_mentions',
  {
    /** The comment, or the task for its notes. */
    sourceId: uuid('source_id').notNull(),
    userId: userId(),
    taskId: taskId().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.sourceId, table.userId] }),
    // The task is purged.
    index('task_mentions_task').on(table.taskId),
  ],
)

/** One row: up to which change people were notified. */
export const notificationProgress = pgTable(
  'notification_progress',
  {
    isOnly: boolean('is_only').primaryKey().default(true),
    /** The position of the last change. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** Activity up to this number is history: from before an upgrade, or of an import. */
    historyUntil: bigint('history_until', { mode: 'number' }).notNull(),
  },
  (table) => [check('notification_progress_is_one_row', sql`${table.isOnly}`)],
)
