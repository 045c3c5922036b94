import {
  bigint,
  boolean,
  check,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  sql,
  text,
  uuid,
} from '../drizzle.ts'
import { timestamptz } from './columns.ts'

/*
 * What the overview reads: counts for each week, which begins on Monday in UTC. A job counts after the writes, so that
 * they cost a write nothing. All of these tables follow from `tasks` and `activity`.
 */

/**
 * What was counted of each task that is not deleted: a change takes exactly this away again. Counting the weeks of changed
 * tasks anew instead would read each time all tasks of a week, which may be all that there are.
 */
export const countedTasks = pgTable(
  'counted_tasks',
  {
    taskId: uuid('task_id').primaryKey(),
    projectId: uuid('project_id').notNull(),
    source: text('source').notNull(),
    openedAt: timestamptz('opened_at').notNull(),
    /** Null, as are the next two, unless it is done. */
    completedAt: timestamptz('completed_at'),
    closer: text('closer'),
    days: integer('days'),
    /** Whether it is in triage. */
    isToTriage: boolean('is_to_triage').notNull(),
    /** Of feedback with a sentiment that is counted, as the next one. */
    version: text('version'),
    sentiment: text('sentiment'),
    /** The task that it is a report of: itself if it has reports. */
    reportOf: uuid('report_of'),
  },
  (table) => [
    // The oldest open task of a project.
    index('counted_tasks_open').on(table.projectId, table.openedAt).where(sql`${table.completedAt} is null`),
    // The oldest task of a project to triage.
    index('counted_tasks_to_triage').on(table.projectId, table.taskId).where(sql`${table.isToTriage}`),
  ],
)

/** Tasks whose times were changed without an activity. Written by a trigger. */
export const countedTaskChanges = pgTable('counted_task_changes', {
  taskId: uuid('task_id').notNull(),
})

const cell = {
  projectId: uuid('project_id').notNull(),
  week: date('week').notNull(),
}

/** How many tasks were opened, by the week of `opened_at`. */
export const openedWeeks = pgTable(
  'opened_weeks',
  { ...cell, source: text('source').notNull(), count: integer('count').notNull() },
  (table) => [
    primaryKey({ columns: [table.projectId, table.week, table.source] }),
    // Cleanup, as in the next one.
    index('opened_weeks_unused').on(table.projectId).where(sql`${table.count} = 0`),
  ],
)

/** How many tasks were closed, by the week of `completed_at`. */
export const closedWeeks = pgTable(
  'closed_weeks',
  {
    ...cell,
    closer: text('closer', { enum: ['people', 'assistants', 'host', 'other'] }).notNull(),
    /** From `opened_at` to `completed_at`; -1 of reports, which say nothing of how long it takes. */
    days: integer('days').notNull(),
    count: integer('count').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.week, table.closer, table.days] }),
    index('closed_weeks_unused').on(table.projectId).where(sql`${table.count} = 0`),
  ],
)

/** How much feedback there was, by the week of `opened_at`. */
export const feedbackWeeks = pgTable(
  'feedback_weeks',
  {
    ...cell,
    version: text('version').notNull(),
    sentiment: text('sentiment', { enum: ['loved', 'meh', 'frustrated'] }).notNull(),
    count: integer('count').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.week, table.version, table.sentiment] }),
    index('feedback_weeks_unused').on(table.projectId).where(sql`${table.count} = 0`),
  ],
)

/** How many reports a task got that has any, itself included, by the week of `opened_at`. */
export const reportWeeks = pgTable(
  'report_weeks',
  { ...cell, taskId: uuid('task_id').notNull(), count: integer('count').notNull() },
  (table) => [
    primaryKey({ columns: [table.projectId, table.week, table.taskId] }),
    index('report_weeks_unused').on(table.projectId).where(sql`${table.count} = 0`),
  ],
)

/** How many tasks are to be triaged. */
export const untriagedCounts = pgTable('untriaged_counts', {
  projectId: uuid('project_id').primaryKey(),
  count: integer('count').notNull(),
})

/** One row, or none before the first pass: what has been counted. */
export const overviewProgress = pgTable(
  'overview_progress',
  {
    isOnly: boolean('is_only').primaryKey().default(true),
    /** All changes up to this position are counted once all tasks are. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** While the tasks from before are counted, in the order of their IDs. */
    filledTo: uuid('filled_to').notNull(),
    isFilled: boolean('is_filled').notNull().default(false),
  },
  (table) => [check('overview_progress_is_one_row', sql`${table.isOnly}`)],
)
