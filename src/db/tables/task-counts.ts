import { boolean, integer, pgTable, pgView, smallint, text, uuid } from '../drizzle.ts'

/**
 * Changes of counts that are not yet aggregated: those of open tasks in lists, and of tasks with a label or an assignee.
 * A counter in the list's own row would make every create in a busy list wait for the previous one. Written by triggers.
 * Tasks that are created together are one row where all but `sign` is the same; a row for each name instead would cost
 * a create 110 µs of 190, where this costs 25.
 */
export const taskCountChanges = pgTable('task_count_changes', {
  /** How many tasks count from now on; -1: one does no longer. A changed task has both. */
  sign: smallint('sign').notNull(),
  listId: uuid('list_id').notNull(),
  projectId: uuid('project_id').notNull(),
  isOpen: boolean('is_open').notNull(),
  labels: text('labels').array().notNull(),
  assignees: text('assignees').array().notNull(),
})

/** The changes for each list. */
export const listCountChanges = pgView('list_count_changes', {
  listId: uuid('list_id').notNull(),
  change: integer('change').notNull(),
}).existing()

/** The changes for each label and assignee, with the order in which they were written as `ctid`. */
export const taskNameChanges = pgView('task_name_changes', {
  kind: text('kind', { enum: ['label', 'assignee'] }).notNull(),
  projectId: uuid('project_id').notNull(),
  name: text('name').notNull(),
  taskChange: integer('task_change').notNull(),
  openChange: integer('open_change').notNull(),
}).existing()
