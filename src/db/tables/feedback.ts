import { boolean, integer, pgTable, text, uuid } from '../drizzle.ts'
import { timestamptz } from './columns.ts'

/** Routing rules: which project feedback goes to, by its properties. */
export const webhookRouting = pgTable('webhook_routing', {
  id: uuid('id').primaryKey(),
  name: text('name'),
  projectMatch: text('project_match'),
  appMatch: text('app_match'),
  // No foreign key: a rule whose project was deleted stays visible and is skipped.
  targetProjectId: uuid('target_project_id').notNull(),
  /** Consecutive from 0; changed under a lock of the table. */
  position: integer('position').notNull(),
  isActive: boolean('is_active').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  updatedAt: timestamptz('updated_at').notNull(),
})

/** Deliveries that were not JSON: only their number per day is stored. */
export const feedbackUnreadable = pgTable('feedback_unreadable', {
  /** A day in UTC, such as 2026-11-21. */
  day: text('day').primaryKey(),
  count: integer('count').notNull(),
})
