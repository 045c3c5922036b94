import { bigserial, customType, index, isNotNull, jsonb, pgTable, sql, text, uuid } from '../drizzle.ts'
import { actorType, timestamptz } from './columns.ts'

const transactionId = customType<{ data: string }>({ dataType: () => 'xid8' })

export const activity = pgTable(
  'activity',
  {
    /** UUIDv7 created from `created_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    type: text('type').notNull(),
    message: text('message'),
    // No foreign keys: the activity log outlives its subjects.
    taskId: uuid('task_id'),
    projectId: uuid('project_id'),
    actorType: actorType('actor_type').notNull(),
    actorId: uuid('actor_id'),
    actorName: text('actor_name').notNull(),
    metadata: jsonb('metadata').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    /** The transaction that wrote the row: commits are not in order of ids, and a reader must not miss any. */
    transaction: transactionId('transaction').notNull().default(sql`pg_current_xact_id()`),
    /**
     * The order of rows that became visible together. Taken while the row of the task is locked, so the activities of a
     * task are in the order of its versions.
     */
    sequence: bigserial('sequence', { mode: 'number' }).notNull(),
  },
  (table) => [
    // What each costs a write is in docs/experiments.md.
    // What became visible since the last activity got a position.
    index('activity_transaction').on(table.transaction),
    // `taskId`.
    index('activity_task').on(table.taskId, table.id).where(isNotNull(table.taskId)),
    // `projectId`, and keys that are bound to a project.
    index('activity_project').on(table.projectId, table.id),
    // `actorId`.
    index('activity_actor').on(table.actorId, table.id),
    // `type`.
    index('activity_type').on(table.type, table.id),
  ],
)
