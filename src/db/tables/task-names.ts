import { index, integer, pgTable, primaryKey, sql, text, uuid } from '../drizzle.ts'

const kind = text('kind', { enum: ['label', 'assignee'] }).notNull()

/**
 * How many tasks have a label or an assignee, for suggestions: a row per name and project; later changes are in
 * `task_count_changes`. Counting on request takes time proportional to the tasks (0.7 s at a million); this reads at
 * most as many rows as there are names.
 */
export const taskNames = pgTable(
  'task_names',
  {
    kind,
    projectId: uuid('project_id').notNull(),
    /** The name in lower case: labels that differ only in case are one. */
    key: text('key').notNull(),
    /** The spelling that was written first. */
    name: text('name').notNull(),
    taskCount: integer('task_count').notNull(),
    openCount: integer('open_count').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.projectId, table.key] }),
    // Most used names first, alone and within a project.
    index('task_names_used').on(table.kind, table.openCount),
    index('task_names_project_used').on(table.kind, table.projectId, table.openCount),
    // Cleanup. Only names that no task has are in this index.
    index('task_names_unused').on(table.kind, table.projectId, table.key).where(sql`${table.taskCount} = 0`),
  ],
)
