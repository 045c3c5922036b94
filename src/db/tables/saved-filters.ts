import { check, index, jsonb, pgTable, sql, text, uuid } from '../drizzle.ts'
import { apiKeys } from './access.ts'
import { timestamptz } from './columns.ts'
import { users } from './people.ts'

/** Filters of tasks that a key or a person has saved under a name. */
export const savedFilters = pgTable(
  'saved_filters',
  {
    /** UUIDv7 created from `created_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    keyId: uuid('key_id').references(() => apiKeys.id, { onDelete: 'cascade' }),
    userId: uuid('user_id').references(() => users.id),
    name: text('name').notNull(),
    query: jsonb('query').notNull(),
    createdAt: timestamptz('created_at').notNull(),
  },
  (table) => [
    index('saved_filters_key').on(table.keyId, table.id),
    index('saved_filters_user').on(table.userId, table.id),
    check('saved_filters_holder', sql`num_nonnulls(key_id, user_id) = 1`),
  ],
)
