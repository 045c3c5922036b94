import {
  boolean,
  index,
  integer,
  isNotNull,
  jsonb,
  pgTable,
  sql,
  text,
  uniqueIndex,
  uuid,
} from '../drizzle.ts'
import { codehostConnections } from './codehost.ts'
import { bigintText, bytea, timestamptz } from './columns.ts'

/** What arrived at the receivers, and what became of it. */
export const deliveries = pgTable(
  'deliveries',
  {
    /** UUIDv7 created from `received_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    /** What reads it: feedback arrives at sources, too. */
    receiver: text('receiver', { enum: ['feedback', 'source', 'codehost'] }).notNull(),
    // No foreign key: feedback is a repeat after its source was deleted. A trigger deletes what templates read.
    sourceId: uuid('source_id'),
    connectionId: uuid('connection_id').references(() => codehostConnections.id, { onDelete: 'cascade' }),
    // No foreign keys: a repeat returns the same ids long after the task was deleted.
    projectId: uuid('project_id'),
    listId: uuid('list_id'),
    /**
     * Feedback: a hash of what tells events apart. The others: the source or the connection, and the sender's id. Null
     * where the same may be sent again, corrected.
     */
    dedupKey: text('dedup_key'),
    /** The sender's id, truncated if long. */
    senderId: text('sender_id'),
    /** Only of the code host. */
    event: text('event'),
    action: text('action'),
    /** Of the issue or pull request. */
    number: integer('number'),
    /** The host's id of the comment. */
    commentId: bigintText('comment_id'),
    outcome: text('outcome', {
      enum: ['accepted', 'updated', 'ignored', 'filtered', 'rejected', 'pending', 'failed'],
    }).notNull(),
    /** Why it was ignored or failed, or changed nothing. */
    reason: text('reason'),
    /** How often it was sent again. */
    duplicates: integer('duplicates').notNull(),
    attempts: integer('attempts').notNull(),
    receivedAt: timestamptz('received_at').notNull(),
    /** Of the code host, only while it is pending. Null then: it waits until its project is unarchived. */
    nextAttemptAt: timestamptz('next_attempt_at'),
    /** `{taskId, created}` of each, those of sources with the position of their `item`. */
    tasks: jsonb('tasks').notNull(),
    /** Of feedback: why its task is in its project. */
    routing: jsonb('routing'),
    /** Why it was rejected, or what was omitted of its tasks. */
    errors: jsonb('errors'),
    /** JSON as text, with any member names: possibly truncated, and null after its retention. */
    payload: text('payload'),
    payloadCut: boolean('payload_cut').notNull(),
  },
  (table) => {
    const isPending = sql`${table.receiver} = 'codehost' and ${table.outcome} = 'pending'`
    return [
      uniqueIndex('deliveries_dedup').on(table.dedupKey).where(isNotNull(table.dedupKey)),
      // Lists without a receiver or an outcome merge the parts of an index that have each.
      index('deliveries_outcome').on(table.receiver, table.outcome, table.id),
      index('deliveries_project').on(table.projectId, table.receiver, table.outcome, table.id),
      index('deliveries_source')
        .on(table.sourceId, table.receiver, table.outcome, table.id)
        .where(isNotNull(table.sourceId)),
      index('deliveries_sender')
        .on(table.senderId, table.receiver, table.outcome, table.id)
        .where(isNotNull(table.senderId)),
      // One expression: with two columns, PostgreSQL without statistics reads all that the sender gave this ID.
      index('deliveries_sender_project')
        .on(
          sql`(${table.senderId} || ' ' || ${table.projectId}::text)`,
          table.receiver,
          table.outcome,
          table.id,
        )
        .where(sql`${table.senderId} is not null and ${table.projectId} is not null`),
      index('deliveries_connection').on(table.connectionId, table.id).where(isNotNull(table.connectionId)),
      index('deliveries_due').on(table.nextAttemptAt).where(isPending),
      index('deliveries_gone')
        .on(table.connectionId, table.number)
        .where(sql`${table.action} in ('deleted', 'transferred')`),
      index('deliveries_deleted_comment')
        .on(table.connectionId, table.commentId)
        .where(sql`${table.event} = 'issue_comment' and ${table.action} = 'deleted'`),
      index('deliveries_ignored').on(table.id).where(sql`${table.outcome} in ('ignored', 'filtered')`),
      index('deliveries_payload').on(table.id).where(isNotNull(table.payload)),
    ]
  },
)

/** The bodies of pending deliveries of sources, which are processed one after the other. */
export const sourceBacklog = pgTable(
  'source_backlog',
  {
    deliveryId: uuid('delivery_id')
      .primaryKey()
      .references(() => deliveries.id, { onDelete: 'cascade' }),
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
