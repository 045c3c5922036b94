import { index, jsonb, pgTable, text, uuid } from '../drizzle.ts'
import { apiKeys } from './access.ts'
import { timestamptz } from './columns.ts'

/** Filters of tasks that a key has saved under a name. */
export const savedFilters = pgTable(
  'saved_filters',
  {
    /** UUIDv7 created from `created_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    keyId: uuid('key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    query: jsonb('query').notNull(),
    createdAt: timestamptz('created_at').notNull(),
  },
  (table) => [index('saved_filters_key').on(table.keyId, table.id)],
)
