import { index, isNotNull, pgTable, text, uuid } from '../drizzle.ts'

/** The text that `q` searches, in lower case and indexed after the write: a row per task not in `task_text_changes`. */
// Processor time per task, a million tasks of 540 characters, PostgreSQL 18 on two busy cores: trigram index on `tasks`
// 370 µs, here 250 µs in batches (2,250 without GIN's pending list), full text 250 µs (whole words only), none 10 µs.
// Indexing inside writes cut inserts of a hundred from 80/s to 11. Searches: 15 to 120 ms, up to 15 s without index.
export const taskTexts = pgTable(
  'task_texts',
  {
    taskId: uuid('task_id').primaryKey(),
    title: text('title').notNull(),
    /** The first 1,000 characters of the description. */
    beginning: text('beginning'),
    /** The external id, labels, and assignees, separated by U+001F; null if there are none. */
    names: text('names'),
  },
  (table) => [
    // Created by the migration if the database has pg_trgm; without it searches are slower and find the same.
    index('task_texts_trigrams').using(
      'gin',
      table.title.op('gin_trgm_ops'),
      table.beginning.op('gin_trgm_ops'),
    ),
    // Of its own: only few tasks need it, and the other need not be built again.
    index('task_texts_names').using('gin', table.names.op('gin_trgm_ops')).where(isNotNull(table.names)),
  ],
)

/**
 * Tasks whose text was added or changed since it was indexed, and those purged since; written by triggers. A task may
 * have two rows.
 */
export const taskTextChanges = pgTable('task_text_changes', { taskId: uuid('task_id').notNull() })
