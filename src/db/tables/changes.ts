import { bigint, boolean, check, customType, pgTable, sql, text, uuid } from '../drizzle.ts'

const pgSnapshot = customType<{ data: string }>({ dataType: () => 'pg_snapshot' })

/**
 * The order in which programs read the activity log. An activity gets its position after its commit, and positions become
 * visible in their order: a reader at a position has everything before it.
 */
export const changes = pgTable('changes', {
  position: bigint('position', { mode: 'number' }).primaryKey(),
  /** No foreign key, which would cost more than the row. Unique: whatever happens, no activity is read twice. */
  activityId: uuid('activity_id').notNull().unique('changes_activity'),
})

/** One row: what has a position. */
export const changeFeed = pgTable(
  'change_feed',
  {
    isOnly: boolean('is_only').primaryKey().default(true),
    /** Part of every cursor. Renewed when positions may mean other activities than before. */
    epoch: uuid('epoch').notNull(),
    /** The database that the transaction ids of the log belong to: another one assigns the same ids again. */
    databaseId: text('database_id').notNull(),
    lastPosition: bigint('last_position', { mode: 'number' }).notNull(),
    /** All activity of the transactions that it shows has a position. Durable, so these ids are never assigned again. */
    snapshot: pgSnapshot('snapshot').notNull(),
    /** While a backlog gets positions in several passes: the snapshot that they work towards, and how far they are. */
    pendingSnapshot: pgSnapshot('pending_snapshot'),
    pendingSequence: bigint('pending_sequence', { mode: 'number' }),
  },
  (table) => [check('change_feed_is_one_row', sql`${table.isOnly}`)],
)
