import { boolean, index, isNotNull, pgTable, text, uniqueIndex, uuid } from '../drizzle.ts'
import { actorType, bigintText, timestamptz } from './columns.ts'
import { tasks } from './tasks.ts'

/** The comments on tasks. A comment belongs to the project of its task, so it moves with it. */
export const comments = pgTable(
  'comments',
  {
    /** UUIDv7 created from `created_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    body: text('body').notNull(),
    authorType: actorType('author_type').notNull(),
    authorId: uuid('author_id'),
    authorName: text('author_name').notNull(),
    authorUrl: text('author_url'),
    /** Whether it is for the code host, too. */
    isPublic: boolean('is_public').notNull(),
    /** The id at the code host. */
    externalId: bigintText('external_id'),
    externalUrl: text('external_url'),
    /** The code host's `updated_at` as last stored. */
    hostUpdatedAt: timestamptz('host_updated_at'),
    createdAt: timestamptz('created_at').notNull(),
    updatedAt: timestamptz('updated_at').notNull(),
  },
  (table) => [
    index('comments_task').on(table.taskId, table.id),
    // A comment belongs to one issue, and an issue to one task of a project.
    uniqueIndex('comments_external').on(table.taskId, table.externalId).where(isNotNull(table.externalId)),
    // A full run compares ranges of ids.
    index('comments_external_id').on(table.externalId).where(isNotNull(table.externalId)),
  ],
)
