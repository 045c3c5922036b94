import {
  boolean,
  check,
  index,
  integer,
  isNotNull,
  jsonb,
  pgTable,
  primaryKey,
  sql,
  text,
  uniqueIndex,
  uuid,
} from '../drizzle.ts'
import { bytea, previousSecrets, timestamptz } from './columns.ts'
import { lists, projects } from './projects.ts'

/** Sources: other systems whose JSON becomes tasks. */
export const sources = pgTable(
  'sources',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    /** Null: the project's default list. */
    listId: uuid('list_id').references(() => lists.id, { onDelete: 'set null' }),
    scheme: text('scheme', { enum: ['bearer', 'standard_webhooks', 'hmac_sha256_hex', 'token'] }).notNull(),
    header: text('header'),
    prefix: text('prefix'),
    /** The SHA-256 of a secret that is sent; one that signs is encrypted with AES-256-GCM, bound to this row's id. */
    secret: text('secret').notNull(),
    previousSecrets: previousSecrets('previous_secrets'),
    /** What makes the tasks: the templates, or what reads the events of the feedback receiver. */
    mapping: text('mapping', { enum: ['template', 'feedback'] })
      .notNull()
      .default('template'),
    /** The path to an array in the payload: a task for each item. */
    each: text('each'),
    /** A Liquid condition. */
    filter: text('filter'),
    /** Liquid templates by the task's member; null for feedback. */
    template: jsonb('template'),
    /** The members that a template empties by rendering nothing. */
    clears: text('clears').array().notNull().default([]),
    isActive: boolean('is_active').notNull(),
    disabledReason: text('disabled_reason', { enum: ['slow'] }),
    /** How many deliveries in a row took too long to render. */
    slowDeliveries: integer('slow_deliveries').notNull().default(0),
    createdAt: timestamptz('created_at').notNull(),
    updatedAt: timestamptz('updated_at').notNull(),
  },
  (table) => [
    index('sources_project').on(table.projectId, table.id),
    check('sources_mapping', sql`(${table.mapping} = 'template') = (${table.template} is not null)`),
    index('sources_list').on(table.listId).where(isNotNull(table.listId)),
  ],
)

/** The inbox of the sources: verified deliveries and their outcome. */
export const sourceEvents = pgTable(
  'source_events',
  {
    /** UUIDv7 created from `received_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    sourceId: uuid('source_id')
      .notNull()
      .references(() => sources.id, { onDelete: 'cascade' }),
    /** A hash of the sender's id. Only of what is not rejected. */
    dedupKey: text('dedup_key'),
    /** The sender's id of the delivery. */
    deliveryId: text('delivery_id'),
    outcome: text('outcome', { enum: ['accepted', 'filtered', 'rejected', 'pending'] }).notNull(),
    /** How often it was sent again. */
    duplicates: integer('duplicates').notNull(),
    receivedAt: timestamptz('received_at').notNull(),
    // No foreign keys: a repeat returns the same ids long after the tasks were deleted.
    projectId: uuid('project_id'),
    listId: uuid('list_id'),
    /** `{taskId, created}` of each. */
    tasks: jsonb('tasks').notNull(),
    /** Why it was rejected, or what was left out of its tasks. */
    errors: jsonb('errors'),
    /** JSON as text: the payload, possibly truncated. */
    payload: text('payload'),
    payloadCut: boolean('payload_cut').notNull(),
  },
  (table) => [
    uniqueIndex('source_events_dedup').on(table.sourceId, table.dedupKey).where(isNotNull(table.dedupKey)),
    index('source_events_source').on(table.sourceId, table.id),
    index('source_events_filtered').on(table.id).where(sql`${table.outcome} = 'filtered'`),
    index('source_events_payload').on(table.id).where(isNotNull(table.payload)),
  ],
)

/** The bodies of pending deliveries, which are processed one after the other. */
export const sourceBacklog = pgTable(
  'source_backlog',
  {
    eventId: uuid('event_id')
      .primaryKey()
      .references(() => sourceEvents.id, { onDelete: 'cascade' }),
    sourceId: uuid('source_id').notNull(),
    /** The order in which a source's were stored: the clocks of instances differ. */
    position: integer('position').notNull(),
    /** As it was received. */
    body: bytea('body').notNull(),
    /** When it is tried next. Until then, an instance may be working on it. */
    dueAt: timestamptz('due_at').notNull(),
  },
  (table) => [uniqueIndex('source_backlog_source').on(table.sourceId, table.position)],
)

/** The items that sources sent last, by what tells them apart: `domain/sources/repeats.ts` says which are repeats. */
export const sourceItems = pgTable(
  'source_items',
  {
    sourceId: uuid('source_id')
      .notNull()
      .references(() => sources.id, { onDelete: 'cascade' }),
    /** `id:` and an external ID, or `item:`, a hash of the item, and its number among equal ones. */
    key: text('key').notNull(),
    // Null until the first delivery with this key has its tasks.
    hash: text('hash'),
    // No foreign keys, as above.
    eventId: uuid('event_id'),
    taskId: uuid('task_id'),
    /** By the database's clock. */
    receivedAt: timestamptz('received_at'),
  },
  (table) => [
    primaryKey({ columns: [table.sourceId, table.key] }),
    index('source_items_received').on(table.receivedAt).where(sql`${table.key} like 'item:%'`),
  ],
)
