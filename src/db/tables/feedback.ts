import { boolean, index, integer, isNotNull, jsonb, pgTable, text, uniqueIndex, uuid } from '../drizzle.ts'
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

/** The inbox: deliveries to the feedback receiver and their outcome. */
export const feedbackEvents = pgTable(
  'feedback_events',
  {
    /** UUIDv7 created from `received_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    /** The source that it arrived at; null for the receiver. No foreign key: a repeat is one after its source was deleted. */
    sourceId: uuid('source_id'),
    /** SHA-256 of the deduplication key. Only of accepted events: a rejected one may be sent again, corrected. */
    dedupKey: text('dedup_key'),
    /** The sender's identifier, truncated if long. */
    uuid: text('uuid'),
    outcome: text('outcome', { enum: ['accepted', 'ignored', 'rejected'] }).notNull(),
    /** How often it was sent again. */
    duplicates: integer('duplicates').notNull(),
    receivedAt: timestamptz('received_at').notNull(),
    // No foreign keys: a repeat returns the same ids long after the task was deleted.
    taskId: uuid('task_id'),
    projectId: uuid('project_id'),
    listId: uuid('list_id'),
    routing: jsonb('routing'),
    errors: jsonb('errors'),
    /** JSON as text: the original payload, possibly truncated, with any member names. */
    payload: text('payload'),
    payloadCut: boolean('payload_cut').notNull(),
  },
  (table) => [
    uniqueIndex('feedback_events_dedup').on(table.dedupKey).where(isNotNull(table.dedupKey)),
    index('feedback_events_outcome').on(table.outcome, table.id),
    index('feedback_events_source').on(table.sourceId, table.id).where(isNotNull(table.sourceId)),
    index('feedback_events_payload').on(table.id).where(isNotNull(table.payload)),
  ],
)

/** Deliveries that were not JSON: only their number per day is stored. */
export const feedbackUnreadable = pgTable('feedback_unreadable', {
  /** A day in UTC, such as 2026-11-21. */
  day: text('day').primaryKey(),
  count: integer('count').notNull(),
})
