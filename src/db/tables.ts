import {
  bigint,
  boolean,
  check,
  customType,
  doublePrecision,
  foreignKey,
  index,
  integer,
  isNotNull,
  isNull,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  sql,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from './drizzle.ts'

/** Millisecond precision as in the API: a cursor taken from a response compares equal to its row. */
const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

const actorType = (name: string) =>
  text(name, { enum: ['key', 'session', 'assistant', 'analytics', 'codehost', 'system'] })

const transactionId = customType<{ data: string }>({ dataType: () => 'xid8' })

export const projects = pgTable(
  'projects',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    isDefault: boolean('is_default').notNull().default(false),
    archivedAt: moment('archived_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [uniqueIndex('projects_one_default').on(table.isDefault).where(sql`${table.isDefault}`)],
)

export const lists = pgTable(
  'lists',
  {
    id: uuid('id').primaryKey(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    name: text('name').notNull(),
    position: integer('position').notNull(),
    isDefault: boolean('is_default').notNull().default(false),
    /** Open tasks as of the last aggregation; later changes are in `list_count_changes`. */
    openCount: integer('open_count').notNull().default(0),
    /** The list is about to be deleted and accepts no new tasks. */
    isClosing: boolean('is_closing').notNull().default(false),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    // Target of the tasks' foreign key: a task's list always belongs to the task's project.
    unique('lists_id_project').on(table.id, table.projectId),
    uniqueIndex('lists_one_default').on(table.projectId).where(sql`${table.isDefault}`),
    index('lists_project_position').on(table.projectId, table.position, table.id),
  ],
)

/** Projects being deleted: archived, and their trash is emptied in batches by any instance. */
export const projectDeletions = pgTable('project_deletions', {
  projectId: uuid('project_id')
    .primaryKey()
    .references(() => projects.id, { onDelete: 'cascade' }),
  actorType: actorType('actor_type').notNull(),
  actorId: uuid('actor_id'),
  actorName: text('actor_name').notNull(),
  createdAt: moment('created_at').notNull(),
})

/** Lists being deleted: their tasks are moved to another list in batches by any instance. */
export const listDeletions = pgTable(
  'list_deletions',
  {
    listId: uuid('list_id')
      .primaryKey()
      .references(() => lists.id, { onDelete: 'cascade' }),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    /** The list that receives its tasks. No foreign key: deleting that list moves them on. */
    targetId: uuid('target_id').notNull(),
    /** The destination in the request; null: the default list, for tasks in the trash. */
    moveTo: uuid('move_to'),
    actorType: actorType('actor_type').notNull(),
    actorId: uuid('actor_id'),
    actorName: text('actor_name').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [index('list_deletions_target').on(table.targetId)],
)

/**
 * Changes of open counts, one row per statement and list. A counter in the list's own row would make every create in a
 * busy list wait for the previous one.
 */
export const listCountChanges = pgTable(
  'list_count_changes',
  {
    listId: uuid('list_id').notNull(),
    change: integer('change').notNull(),
  },
  (table) => [index('list_count_changes_list').on(table.listId)],
)

export const tasks = pgTable(
  'tasks',
  {
    /** UUIDv7 created from `created_at`: ids are in order of creation, so the time needs no index. */
    id: uuid('id').primaryKey(),
    title: text('title').notNull(),
    description: text('description'),
    status: text('status', { enum: ['open', 'in_progress', 'done'] }).notNull(),
    /** 1 low, 2 medium, 3 high: sorts by urgency. */
    priority: smallint('priority').notNull(),
    source: text('source', { enum: ['api', 'codehost', 'analytics', 'dashboard', 'assistant'] }).notNull(),
    projectId: uuid('project_id').notNull(),
    listId: uuid('list_id').notNull(),
    externalId: text('external_id'),
    externalUrl: text('external_url'),
    labels: text('labels').array().notNull(),
    assignees: text('assignees').array().notNull(),
    codehostRepositoryId: bigint('codehost_repository_id', { mode: 'number' }),
    codehostNumber: integer('codehost_number'),
    codehostKind: text('codehost_kind', { enum: ['issue', 'pull_request'] }),
    /** As of the last sync: an open item reopens a task only if it was closed before. */
    codehostState: text('codehost_state', { enum: ['open', 'closed'] }),
    closedReason: text('closed_reason', {
      enum: ['completed', 'not_planned', 'duplicate', 'merged', 'closed_unmerged'],
    }),
    sourceState: text('source_state', { enum: ['present', 'transferred', 'deleted'] })
      .notNull()
      .default('present'),
    notes: text('notes'),
    metadata: jsonb('metadata').notNull(),
    createdByType: actorType('created_by_type').notNull(),
    createdById: uuid('created_by_id'),
    createdByName: text('created_by_name').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    completedAt: moment('completed_at'),
    deletedAt: moment('deleted_at'),
    version: integer('version').notNull(),
  },
  (table) => [
    foreignKey({
      name: 'tasks_list_in_project',
      columns: [table.listId, table.projectId],
      foreignColumns: [lists.id, lists.projectId],
    }),
    // The five sort orders: alone, within a project, within a list; each is scanned in both directions.
    index('tasks_updated').on(table.updatedAt, table.id).where(isNull(table.deletedAt)),
    index('tasks_priority').on(table.priority, table.id).where(isNull(table.deletedAt)),
    index('tasks_project_created').on(table.projectId, table.id).where(isNull(table.deletedAt)),
    index('tasks_project_updated')
      .on(table.projectId, table.updatedAt, table.id)
      .where(isNull(table.deletedAt)),
    index('tasks_project_priority')
      .on(table.projectId, table.priority, table.id)
      .where(isNull(table.deletedAt)),
    // Includes deleted tasks: deleting a list checks this foreign key. 264 ms without the index at 600,000 tasks, 0.8
    // ms with.
    index('tasks_list_created').on(table.listId, table.id),
    index('tasks_list_updated').on(table.listId, table.updatedAt, table.id).where(isNull(table.deletedAt)),
    index('tasks_list_priority').on(table.listId, table.priority, table.id).where(isNull(table.deletedAt)),
    index('tasks_list_status').on(table.listId, table.status, table.id).where(isNull(table.deletedAt)),
    // For the `label` filter, ignoring case: rare labels are found here, frequent ones by scanning in sort order.
    index('tasks_labels')
      .using('gin', sql`lower_names(${table.labels})`)
      .with({ gin_pending_list_limit: 256 })
      .where(sql`${table.labels} <> '{}' and ${table.deletedAt} is null`),
    // The trash by time of deletion, alone and within a project. Only deleted tasks are in these indexes.
    index('tasks_trash').on(table.deletedAt, table.id).where(isNotNull(table.deletedAt)),
    index('tasks_project_trash')
      .on(table.projectId, table.deletedAt, table.id)
      .where(isNotNull(table.deletedAt)),
    uniqueIndex('tasks_external')
      .on(table.projectId, table.source, table.externalId)
      .where(sql`${table.deletedAt} is null and ${table.externalId} is not null`),
    // Includes deleted tasks: a sync does not recreate what was deleted here.
    uniqueIndex('tasks_codehost')
      .on(table.projectId, table.codehostRepositoryId, table.codehostNumber)
      .where(isNotNull(table.codehostNumber)),
    check('tasks_priority_range', sql`${table.priority} between 1 and 3`),
    check('tasks_completed_when_done', sql`(${table.status} = 'done') = (${table.completedAt} is not null)`),
  ],
)

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
    createdAt: moment('created_at').notNull(),
    /** The transaction that wrote the row: commits are not in order of ids, and the stream must not miss any. */
    transaction: transactionId('transaction').notNull().default(sql`pg_current_xact_id()`),
  },
  (table) => [
    index('activity_transaction').on(table.transaction, table.id),
    index('activity_task').on(table.taskId, table.id).where(isNotNull(table.taskId)),
    index('activity_project').on(table.projectId, table.id),
    index('activity_actor').on(table.actorId, table.id),
    index('activity_type').on(table.type, table.id),
  ],
)

/** API keys. A revoked key is kept, so that a restart does not create it again. */
export const apiKeys = pgTable('api_keys', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  scopes: text('scopes').array().notNull(),
  projectId: uuid('project_id').references(() => projects.id),
  expiresAt: moment('expires_at'),
  revokedAt: moment('revoked_at'),
  lastUsedAt: moment('last_used_at'),
  createdAt: moment('created_at').notNull(),
})

/** The SHA-256 of each valid secret of a key. Two while a rotation overlaps. */
export const apiKeySecrets = pgTable(
  'api_key_secrets',
  {
    hash: text('hash').primaryKey(),
    keyId: uuid('key_id')
      .notNull()
      .references(() => apiKeys.id),
    prefix: text('prefix').notNull(),
    lastFour: text('last_four').notNull(),
    expiresAt: moment('expires_at'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [index('api_key_secrets_key').on(table.keyId)],
)

/** Dashboard sessions: a cookie with the scopes of its key; deleted with the key. */
export const sessions = pgTable(
  'sessions',
  {
    id: uuid('id').primaryKey(),
    /** SHA-256 of the cookie's value. */
    hash: text('hash').notNull().unique(),
    keyId: uuid('key_id')
      .notNull()
      .references(() => apiKeys.id),
    userAgent: text('user_agent'),
    createdAt: moment('created_at').notNull(),
    lastSeenAt: moment('last_seen_at').notNull(),
  },
  (table) => [index('sessions_key').on(table.keyId), index('sessions_last_seen').on(table.lastSeenAt)],
)

/** Secrets that authenticate senders of feedback. */
export const webhookSecrets = pgTable('webhook_secrets', {
  id: uuid('id').primaryKey(),
  /** SHA-256 of the secret. */
  hash: text('hash').notNull().unique(),
  lastFour: text('last_four').notNull(),
  createdAt: moment('created_at').notNull(),
  expiresAt: moment('expires_at'),
  revokedAt: moment('revoked_at'),
  lastUsedAt: moment('last_used_at'),
})

/** Responses stored for a day, so that a repeated request returns the first response and is not run again. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    callerId: uuid('caller_id').notNull(),
    /** Method and path of the request. */
    route: text('route').notNull(),
    key: text('key').notNull(),
    /** SHA-256 of the request. */
    requestHash: text('request_hash').notNull(),
    /** Null only inside the transaction that is still running. */
    status: smallint('status'),
    headers: jsonb('headers'),
    body: text('body'),
    /** While this is set and in the future, the response is not final and may be replaced once. */
    completesBy: moment('completes_by'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.callerId, table.route, table.key] }),
    index('idempotency_keys_created').on(table.createdAt),
  ],
)

/** The team's instructions for assistants. */
export const rules = pgTable(
  'rules',
  {
    id: uuid('id').primaryKey(),
    content: text('content').notNull(),
    priority: doublePrecision('priority').notNull(),
    isActive: boolean('is_active').notNull(),
    /** Null: for every project. */
    projectId: uuid('project_id').references(() => projects.id),
    version: integer('version').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    updatedByType: actorType('updated_by_type').notNull(),
    updatedById: uuid('updated_by_id'),
    updatedByName: text('updated_by_name').notNull(),
    /** When it was deleted; the cleanup removes the rule with its versions. */
    deletedAt: moment('deleted_at'),
  },
  (table) => [
    index('rules_order')
      .on(table.projectId, table.priority.desc(), table.createdAt, table.id)
      .where(sql`deleted_at is null`),
  ],
)

/** All versions of a rule, the current one included. */
export const ruleVersions = pgTable(
  'rule_versions',
  {
    ruleId: uuid('rule_id')
      .notNull()
      .references(() => rules.id, { onDelete: 'cascade' }),
    version: integer('version').notNull(),
    content: text('content').notNull(),
    priority: doublePrecision('priority').notNull(),
    isActive: boolean('is_active').notNull(),
    createdAt: moment('created_at').notNull(),
    actorType: actorType('actor_type').notNull(),
    actorId: uuid('actor_id'),
    actorName: text('actor_name').notNull(),
  },
  (table) => [primaryKey({ columns: [table.ruleId, table.version] })],
)

/** Items whose tasks were deleted here and purged: a sync never creates them again. */
export const purgedItems = pgTable(
  'purged_entries',
  {
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    codehostRepositoryId: bigint('codehost_repository_id', { mode: 'number' }).notNull(),
    codehostNumber: integer('codehost_number').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.codehostRepositoryId, table.codehostNumber] })],
)

/** Routing rules: which project feedback goes to, by its properties. */
export const webhookRouting = pgTable('webhook_routing', {
  id: uuid('id').primaryKey(),
  name: text('name'),
  projectMatch: text('project_match'),
  appMatch: text('app_match'),
  // No foreign key: a rule whose project was deleted stays visible and is skipped.
  targetProjectId: uuid('target_project_id').notNull(),
  /** Consecutive from 0; changed under a lock of the table. */
  position: integer('position').notNull(),
  isActive: boolean('is_active').notNull(),
  createdAt: moment('created_at').notNull(),
  updatedAt: moment('updated_at').notNull(),
})

/** The inbox: deliveries to the feedback receiver and their outcome. */
export const feedbackEvents = pgTable(
  'feedback_events',
  {
    /** UUIDv7 created from `received_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    /** SHA-256 of the deduplication key. Only of accepted events: a rejected one may be sent again, corrected. */
    dedupKey: text('dedup_key'),
    /** The sender's identifier, truncated if long. */
    uuid: text('uuid'),
    outcome: text('outcome', { enum: ['accepted', 'ignored', 'rejected'] }).notNull(),
    /** How often it was sent again. */
    duplicates: integer('duplicates').notNull(),
    receivedAt: moment('received_at').notNull(),
    // No foreign keys: a repeat returns the same ids long after the task was deleted.
    taskId: uuid('task_id'),
    projectId: uuid('project_id'),
    listId: uuid('list_id'),
    routing: jsonb('routing'),
    errors: jsonb('errors'),
    /** JSON as text: the original payload, possibly truncated, with any member names. */
    payload: text('payload'),
    payloadCut: boolean('payload_cut').notNull(),
  },
  (table) => [
    uniqueIndex('feedback_events_dedup').on(table.dedupKey).where(isNotNull(table.dedupKey)),
    index('feedback_events_outcome').on(table.outcome, table.id),
    index('feedback_events_payload').on(table.id).where(isNotNull(table.payload)),
  ],
)

/** Deliveries that were not JSON: only their number per day is stored. */
export const feedbackUnreadable = pgTable('feedback_unreadable', {
  /** A day in UTC, such as 2026-11-21. */
  day: text('day').primaryKey(),
  count: integer('count').notNull(),
})

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
    /** Null: the project's default list. */
    listId: uuid('list_id').references(() => lists.id, { onDelete: 'set null' }),
    schedule: text('schedule', { enum: ['off', 'hourly', 'daily'] }).notNull(),
    /** Where the next incremental run resumes. Null before the first run has finished. */
    position: jsonb('position'),
    nextRunAt: moment('next_run_at'),
    nextFullAt: moment('next_full_at').notNull(),
    connectedAt: moment('connected_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
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
    counts: jsonb('counts').notNull(),
    skipped: jsonb('skipped').notNull().default([]),
    gone: integer('gone').notNull().default(0),
    error: jsonb('error'),
    retryAt: moment('retry_at'),
    rateLimit: jsonb('rate_limit'),
    /** The next request, written in the transaction of the previous page. */
    checkpoint: jsonb('checkpoint'),
    /** Incremented by each claim; a worker with an older lease cannot write. */
    lease: integer('lease').notNull().default(0),
    leaseUntil: moment('lease_until'),
    /** Claims since the last committed page: limits how often one page can crash its worker. */
    attempts: integer('attempts').notNull().default(0),
    /** Consecutive rate limits without a duration. */
    limited: integer('limited').notNull().default(0),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
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
  'sync_entries',
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
