import { index, integer, jsonb, pgTable, sql, text, unique, uuid } from '../drizzle.ts'
import { codehostConnections } from './codehost.ts'
import { timestamptz } from './columns.ts'
import { tasks } from './tasks.ts'

/** What was sent last, stored before it is sent: it may have arrived. */
interface SentPayload {
  sent?: 'open' | 'closed'
  /** With `sent`: the issue before. */
  before?: { updatedAt: string | null; closedAt: string | null; isReopened: boolean | null }
  /** Of a new comment: the `updated_at` of its issue before. */
  since?: string | null
  /** Of a comment that may be deleted here. */
  externalId?: string
  /** The credentials could not read the issue: it is written as soon as they can. */
  isUnread?: true
}

/**
 * The outbox of write-back: what changed here and has to be written to the code host. A row says what the write is about;
 * what is written is decided when it is sent, so a later change needs no second row.
 */
export const codehostWrites = pgTable(
  'codehost_writes',
  {
    id: uuid('id').primaryKey(),
    connectionId: uuid('connection_id')
      .notNull()
      .references(() => codehostConnections.id, { onDelete: 'cascade' }),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    kind: text('kind', {
      enum: ['state', 'comment_created', 'comment_updated', 'comment_deleted'],
    }).notNull(),
    // No foreign key: a deletion is written after the comment is gone.
    commentId: uuid('comment_id'),
    payload: jsonb('payload').$type<SentPayload>().notNull(),
    status: text('status', { enum: ['pending', 'done', 'failed'] }).notNull(),
    /** Failed ones since it is pending. */
    attempts: integer('attempts').notNull(),
    /** When the first of the failed attempts was made: a write may have waited long for its turn. */
    firstAttemptAt: timestamptz('first_attempt_at'),
    nextAttemptAt: timestamptz('next_attempt_at').notNull(),
    /** Until then one worker has it. */
    leaseUntil: timestamptz('lease_until'),
    /** Until then what was sent last may still arrive, because no response came: nothing is sent before. */
    arrivesUntil: timestamptz('arrives_until'),
    error: jsonb('error').$type<{ code: string; message: string }>(),
    /** Since when it is pending; also the order of the writes of a task. */
    createdAt: timestamptz('created_at').notNull(),
    finishedAt: timestamptz('finished_at'),
  },
  (table) => [
    // One for the state of a task, and one for each comment.
    unique('codehost_writes_subject').on(table.taskId, table.commentId).nullsNotDistinct(),
    index('codehost_writes_due').on(table.status, table.nextAttemptAt).where(sql`${table.status} <> 'done'`),
    index('codehost_writes_connection').on(table.connectionId),
  ],
)

/**
 * When a token has written in the last hour, and who writes with it now: the limits hold for all connections and instances
 * that use it.
 */
export const codehostWriteLimits = pgTable('codehost_write_limits', {
  /** A hash of the API URL and the token. */
  tokenKey: text('token_key').primaryKey(),
  sent: timestamptz('sent').array().notNull(),
  /** Until when the code host refuses further requests. */
  pausedUntil: timestamptz('paused_until'),
  /** Incremented by each worker that gets the token; one with an older lease sends nothing. */
  lease: integer('lease').notNull().default(0),
  /** Until then one worker has it: the code host takes the writes of a token one after another. */
  leaseUntil: timestamptz('lease_until'),
})
