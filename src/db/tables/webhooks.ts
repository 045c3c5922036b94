import { bigint, boolean, index, integer, jsonb, pgTable, primaryKey, sql, text, uuid } from '../drizzle.ts'
import { previousSecrets, timestamptz } from './columns.ts'
import { projects } from './projects.ts'

/** Outgoing webhooks: URLs that changes are sent to. */
export const webhooks = pgTable('webhooks', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  url: text('url').notNull(),
  /** Types of activity; empty for all. */
  types: text('types').array().notNull(),
  /** Null: every project, and what concerns the whole service. */
  projectId: uuid('project_id').references(() => projects.id, { onDelete: 'cascade' }),
  /** Encrypted with AES-256-GCM, bound to this row's id. Null after an import: secrets are not exported. */
  secret: text('secret'),
  /** Deliveries are signed with these, too. */
  previousSecrets: previousSecrets('previous_secrets'),
  isActive: boolean('is_active').notNull(),
  /** Why the service switched it off; null if it is active, or if a user did. */
  disabledReason: text('disabled_reason', { enum: ['failed', 'gone', 'imported', 'restored'] }),
  /** What is in `changes` up to this position has its deliveries. */
  position: bigint('position', { mode: 'number' }).notNull(),
  /**
   * Positions between which it was switched off, after the first, up to the second: what is in between has no
   * deliveries. Null while it is off. Only those that `position` has not passed count.
   */
  pauses: jsonb('pauses').$type<[number, number | null][]>().notNull().default([]),
  /** Failed attempts since the last success, but for those of retries by hand. */
  failures: integer('failures').notNull().default(0),
  /** Nothing is sent before. */
  nextAttemptAt: timestamptz('next_attempt_at'),
  /** The next attempt that counts as one, while there is a retry by hand before it. */
  scheduledAttemptAt: timestamptz('scheduled_attempt_at'),
  /** Allows one worker to send, until the lease ends. */
  lease: integer('lease').notNull().default(0),
  leaseUntil: timestamptz('lease_until'),
  createdAt: timestamptz('created_at').notNull(),
})

/** What is, or was, to be sent to a webhook. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** UUIDv7; also the sort order, and the `webhook-id` of each attempt. */
    id: uuid('id').notNull(),
    /** The order in which they are sent; null for a test, which is sent once. */
    position: bigint('position', { mode: 'number' }),
    type: text('type').notNull(),
    // No foreign keys: the activity log is never changed, and deliveries outlive their tasks.
    activityId: uuid('activity_id'),
    taskId: uuid('task_id'),
    /** `failed`: the last attempt failed. It is sent again while the webhook is active. */
    outcome: text('outcome', { enum: ['pending', 'delivered', 'failed'] }).notNull(),
    attempts: integer('attempts').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    lastAttemptAt: timestamptz('last_attempt_at'),
    /** When it was delivered; of a test, when it was sent. */
    finishedAt: timestamptz('finished_at'),
    durationMs: integer('duration_ms'),
    responseStatus: integer('response_status'),
    /** The beginning of the response to a failed attempt. */
    responseBody: text('response_body'),
    error: text('error'),
  },
  (table) => [
    primaryKey({ columns: [table.webhookId, table.id] }),
    // What is to be sent next.
    index('webhook_deliveries_waiting')
      .on(table.webhookId, table.position)
      .where(sql`${table.outcome} <> 'delivered' and ${table.position} is not null`),
    // `outcome`. Only what was not delivered is in this index.
    index('webhook_deliveries_undelivered')
      .on(table.webhookId, table.outcome, table.id)
      .where(sql`${table.outcome} <> 'delivered'`),
    // Cleanup.
    index('webhook_deliveries_finished').on(table.finishedAt).where(sql`${table.finishedAt} is not null`),
  ],
)
