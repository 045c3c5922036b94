import { index, pgTable, text, uuid } from './drizzle.ts'

/**
 * What `q` looks in, folded to lower case and filled behind the writes: a row for each task, but for those named in
 * `task_text_changes`.
 *
 * Measured on a million tasks with 540 characters of text each, in processor time a task (PostgreSQL 18, two cores that
 * were busy otherwise: the proportions hold): a trigram index on `tasks` itself 370 µs, on this table 250 µs in batches
 * (2,250 without GIN's pending list), full text 250 µs, which finds words and not parts of them, no index 10 µs. Paid
 * inside the writes, the first took inserts of a hundred from 80 a second to 11, and every change of a status paid it
 * again. Here a write pays one short row. Looking: 15 to 120 ms where the walk without an index takes up to 15 s.
 */
export const taskTexts = pgTable(
  'task_texts',
  {
    taskId: uuid('task_id').primaryKey(),
    title: text('title').notNull(),
    /** The first 1,000 characters of the description. */
    beginning: text('beginning'),
  },
  (table) => [
    // Made by the migration where the database has pg_trgm; without it searches are slower and find the same.
    index('task_texts_trigrams').using(
      'gin',
      table.title.op('gin_trgm_ops'),
      table.beginning.op('gin_trgm_ops'),
    ),
  ],
)

/**
 * Tasks whose text is new or was changed since it was folded, and those deleted for good since; triggers write it. A task
 * may stand here twice.
 */
export const taskTextChanges = pgTable('task_text_changes', { taskId: uuid('task_id').notNull() })
