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
  uuid,
} from '../drizzle.ts'
import { previousSecrets, timestamptz } from './columns.ts'
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
    // No foreign keys: an item is a repeat long after its task was deleted.
    deliveryId: uuid('delivery_id'),
    taskId: uuid('task_id'),
    /** By the database's clock. */
    receivedAt: timestamptz('received_at'),
  },
  (table) => [
    primaryKey({ columns: [table.sourceId, table.key] }),
    index('source_items_received').on(table.receivedAt).where(sql`${table.key} like 'item:%'`),
  ],
)
