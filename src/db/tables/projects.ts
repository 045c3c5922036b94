import { boolean, index, integer, pgTable, sql, text, unique, uniqueIndex, uuid } from '../drizzle.ts'
import { actorType, timestamptz } from './columns.ts'

export const projects = pgTable(
  'projects',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    isDefault: boolean('is_default').notNull().default(false),
    archivedAt: timestamptz('archived_at'),
    /** What happens to feedback with the same note as another one. */
    groupFeedback: text('group_feedback', { enum: ['off', 'suggest', 'auto'] })
      .notNull()
      .default('suggest'),
    /** Whether tasks that arrive are to be triaged. */
    triage: text('triage', { enum: ['on', 'off'] })
      .notNull()
      .default('on'),
    createdAt: timestamptz('created_at').notNull(),
    updatedAt: timestamptz('updated_at').notNull(),
  },
  (table) => [uniqueIndex('projects_one_default').on(table.isDefault).where(sql`${table.isDefault}`)],
)

export const lists = pgTable(
  'lists',
  {
    id: uuid('id').primaryKey(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    name: text('name').notNull(),
    position: integer('position').notNull(),
    isDefault: boolean('is_default').notNull().default(false),
    /** Open tasks as of the last aggregation; later changes are in `task_count_changes`. */
    openCount: integer('open_count').notNull().default(0),
    /** The list is about to be deleted and accepts no new tasks. */
    isClosing: boolean('is_closing').notNull().default(false),
    createdAt: timestamptz('created_at').notNull(),
  },
  (table) => [
    // Target of the tasks' foreign key: a task's list always belongs to the task's project.
    unique('lists_id_project').on(table.id, table.projectId),
    uniqueIndex('lists_one_default').on(table.projectId).where(sql`${table.isDefault}`),
    index('lists_project_position').on(table.projectId, table.position, table.id),
  ],
)

/** Projects being deleted: archived, and their trash is emptied in batches by any instance. */
export const projectDeletions = pgTable('project_deletions', {
  projectId: uuid('project_id')
    .primaryKey()
    .references(() => projects.id, { onDelete: 'cascade' }),
  actorType: actorType('actor_type').notNull(),
  actorId: uuid('actor_id'),
  actorName: text('actor_name').notNull(),
  createdAt: timestamptz('created_at').notNull(),
})

/** Lists being deleted: their tasks are moved to another list in batches by any instance. */
export const listDeletions = pgTable(
  'list_deletions',
  {
    listId: uuid('list_id')
      .primaryKey()
      .references(() => lists.id, { onDelete: 'cascade' }),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    /** The list that receives its tasks. No foreign key: deleting that list moves them on. */
    targetId: uuid('target_id').notNull(),
    /** The destination in the request; null: the default list, for tasks in the trash. */
    moveTo: uuid('move_to'),
    actorType: actorType('actor_type').notNull(),
    actorId: uuid('actor_id'),
    actorName: text('actor_name').notNull(),
    createdAt: timestamptz('created_at').notNull(),
  },
  (table) => [index('list_deletions_target').on(table.targetId)],
)
