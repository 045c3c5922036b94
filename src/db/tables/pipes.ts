import {
  boolean,
  foreignKey,
  index,
  integer,
  isNotNull,
  pgTable,
  primaryKey,
  sql,
  text,
  uuid,
} from '../drizzle.ts'
import { codehostConnections } from './codehost.ts'
import { timestamptz } from './columns.ts'
import { identityProviders } from './people.ts'
import { sources } from './sources.ts'
import { webhooks } from './webhooks.ts'

/** What the service receives and sends through, and how its last attempt ended. One that was never used has no row. */
export const pipes = pgTable(
  'pipes',
  {
    kind: text('kind', {
      enum: ['feedback', 'source', 'sync', 'push', 'write_back', 'webhook', 'identity_provider'],
    }).notNull(),
    /** Of the source, connection, webhook or provider. `feedback` and `env` have no row of their own. */
    id: text('id').notNull(),
    // What deletes it, derived from its ID.
    sourceId: uuid('source_id')
      .generatedAlwaysAs(sql`case when kind = 'source' then id::uuid end`)
      .references(() => sources.id, { onDelete: 'cascade' }),
    connectionId: uuid('connection_id')
      .generatedAlwaysAs(sql`case when kind in ('sync', 'push', 'write_back') then id::uuid end`)
      .references(() => codehostConnections.id, { onDelete: 'cascade' }),
    webhookId: uuid('webhook_id')
      .generatedAlwaysAs(sql`case when kind = 'webhook' then id::uuid end`)
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    providerId: uuid('provider_id')
      .generatedAlwaysAs(sql`case when kind = 'identity_provider' and id <> 'env' then id::uuid end`)
      .references(() => identityProviders.id, { onDelete: 'cascade' }),
    lastAttemptAt: timestamptz('last_attempt_at').notNull(),
    lastSuccessAt: timestamptz('last_success_at'),
    lastErrorAt: timestamptz('last_error_at'),
    errorCode: text('error_code'),
    errorDetail: text('error_detail'),
    /** Since when each attempt has failed; null if the last one succeeded. */
    failingSince: timestamptz('failing_since'),
    /** Whether the last activity about it says that it fails. */
    isLoggedAsFailing: boolean('is_logged_as_failing').notNull().default(false),
    /** When an activity said so last. */
    failureLoggedAt: timestamptz('failure_logged_at'),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.id] }),
    index('pipes_source').on(table.sourceId).where(isNotNull(table.sourceId)),
    index('pipes_connection').on(table.connectionId).where(isNotNull(table.connectionId)),
    index('pipes_webhook').on(table.webhookId).where(isNotNull(table.webhookId)),
    index('pipes_provider').on(table.providerId).where(isNotNull(table.providerId)),
    // What is to be logged: hardly ever any.
    index('pipes_unlogged')
      .on(table.kind, table.id)
      .where(sql`(${table.failingSince} is not null) <> ${table.isLoggedAsFailing}`),
    // Whether people are told that all work again.
    index('pipes_logged_failing').on(table.kind, table.id).where(sql`${table.isLoggedAsFailing}`),
  ],
)

/** How many attempts succeeded and failed, of the last 24 hours. */
export const pipeHours = pgTable(
  'pipe_hours',
  {
    kind: text('kind').notNull(),
    id: text('id').notNull(),
    hour: timestamptz('hour').notNull(),
    succeeded: integer('succeeded').notNull(),
    failed: integer('failed').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.id, table.hour] }),
    foreignKey({ columns: [table.kind, table.id], foreignColumns: [pipes.kind, pipes.id] }).onDelete(
      'cascade',
    ),
    // Cleanup.
    index('pipe_hours_hour').on(table.hour),
  ],
)

/** The longest pause between attempts that ended on a day, of the four weeks before the last attempt. */
export const pipePauses = pgTable(
  'pipe_pauses',
  {
    kind: text('kind').notNull(),
    id: text('id').notNull(),
    /** In UTC, such as 2026-11-21. */
    day: text('day').notNull(),
    longestSeconds: integer('longest_seconds').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.id, table.day] }),
    foreignKey({ columns: [table.kind, table.id], foreignColumns: [pipes.kind, pipes.id] }).onDelete(
      'cascade',
    ),
    // Cleanup.
    index('pipe_pauses_day').on(table.day),
  ],
)
