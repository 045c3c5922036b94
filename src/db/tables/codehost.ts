import {
  bigint,
  boolean,
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
import { previousSecrets, timestamptz } from './columns.ts'
import { lists, projects } from './projects.ts'

/** The repository connected to a project, and its sync position. Deleted on disconnect; the tasks stay. */
export const codehostConnections = pgTable(
  'codehost_connections',
  {
    id: uuid('id').primaryKey(),
    projectId: uuid('project_id')
      .notNull()
      .unique()
      .references(() => projects.id, { onDelete: 'cascade' }),
    /** The code host's id: it survives renames, and a reused name has another one. */
    repositoryId: bigint('repository_id', { mode: 'number' }).notNull(),
    /** `owner/name` in the host's current spelling; only for display. */
    repository: text('repository').notNull(),
    apiUrl: text('api_url').notNull(),
    /** Encrypted with AES-256-GCM, bound to this connection's id. */
    token: text('token'),
    /** A GitHub App instead of a token. Its key is encrypted like the token. */
    app: jsonb('app').$type<{ appId: number; installationId: number; privateKey: string }>(),
    /** Encrypted like the token. */
    webhookSecret: text('webhook_secret'),
    previousWebhookSecrets: previousSecrets('previous_webhook_secrets'),
    /** Null: the project's default list. */
    listId: uuid('list_id').references(() => lists.id, { onDelete: 'set null' }),
    schedule: text('schedule', { enum: ['off', 'hourly', 'daily'] }).notNull(),
    /** What changes here are written to the code host; `comments` includes the state. */
    writeBack: text('write_back', { enum: ['off', 'state', 'comments'] })
      .notNull()
      .default('off'),
    /** Whether comments are synced. */
    comments: boolean('comments').notNull().default(false),
    /** Where the next incremental run resumes. Null before the first run has finished. */
    position: jsonb('position'),
    /** The same for comments. */
    commentsPosition: jsonb('comments_position'),
    nextRunAt: timestamptz('next_run_at'),
    nextFullAt: timestamptz('next_full_at').notNull(),
    connectedAt: timestamptz('connected_at').notNull(),
    updatedAt: timestamptz('updated_at').notNull(),
  },
  (table) => [
    index('codehost_connections_next_run').on(table.nextRunAt).where(isNotNull(table.nextRunAt)),
    index('codehost_connections_list').on(table.listId).where(isNotNull(table.listId)),
  ],
)

/** One pass over a repository. The row is also the lease of its worker. */
export const syncRuns = pgTable(
  'sync_runs',
  {
    id: uuid('id').primaryKey(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    // No foreign key: the run outlives the connection.
    connectionId: uuid('connection_id').notNull(),
    status: text('status', { enum: ['queued', 'running', 'rate_limited', 'completed', 'failed'] }).notNull(),
    mode: text('mode', { enum: ['incremental', 'full'] }).notNull(),
    fetched: integer('fetched').notNull().default(0),
    /** Of a run that lists everything, if the code host tells. */
    total: integer('total'),
    counts: jsonb('counts').notNull(),
    skipped: jsonb('skipped').notNull().default([]),
    gone: integer('gone').notNull().default(0),
    error: jsonb('error'),
    retryAt: timestamptz('retry_at'),
    rateLimit: jsonb('rate_limit'),
    /** The next request, written in the transaction of the previous page. */
    checkpoint: jsonb('checkpoint'),
    /** Incremented by each claim; a worker with an older lease cannot write. */
    lease: integer('lease').notNull().default(0),
    leaseUntil: timestamptz('lease_until'),
    /** Claims since the last committed page: limits how often one page can crash its worker. */
    attempts: integer('attempts').notNull().default(0),
    /** Consecutive rate limits without a duration. */
    limited: integer('limited').notNull().default(0),
    createdAt: timestamptz('created_at').notNull(),
    startedAt: timestamptz('started_at'),
    finishedAt: timestamptz('finished_at'),
  },
  (table) => [
    index('sync_runs_project').on(table.projectId, table.id),
    uniqueIndex('sync_runs_one_active')
      .on(table.projectId)
      .where(sql`${table.status} in ('queued', 'running', 'rate_limited')`),
  ],
)

/** The items seen by a run in progress, once each; emptied when the run ends. */
export const syncItems = pgTable(
  'sync_items',
  {
    runId: uuid('run_id')
      .notNull()
      .references(() => syncRuns.id, { onDelete: 'cascade' }),
    number: integer('number').notNull(),
    outcome: text('outcome', {
      enum: ['created', 'closed', 'reopened', 'updated', 'unchanged', 'skipped'],
    }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.number] })],
)

/** Items whose tasks were deleted here and purged: a sync never creates them again. */
export const purgedItems = pgTable(
  'purged_items',
  {
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    codehostRepositoryId: bigint('codehost_repository_id', { mode: 'number' }).notNull(),
    codehostNumber: integer('codehost_number').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.codehostRepositoryId, table.codehostNumber] })],
)

/** The colors of labels at the code host, as the latest item of each label had them. */
export const codehostLabels = pgTable(
  'codehost_labels',
  {
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    /** In lower case, as the key of `task_names`. */
    name: text('name').notNull(),
    label: text('label').notNull(),
    /** Six hexadecimal digits. */
    color: text('color').notNull(),
  },
  // The name first: without a project, it is looked up in all of them.
  (table) => [primaryKey({ columns: [table.name, table.projectId] })],
)
