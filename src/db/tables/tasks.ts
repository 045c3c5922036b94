import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  isNotNull,
  isNull,
  jsonb,
  pgTable,
  smallint,
  sql,
  text,
  uniqueIndex,
  uuid,
} from '../drizzle.ts'
import { type ActorType, actorType, timestamptz } from './columns.ts'
import { lists } from './projects.ts'

/** What an assistant has to know before it can go on. */
export interface TaskQuestion {
  /** The comment that asks. */
  commentId: string
  askedBy: { type: ActorType; id: string | null; name: string }
  /** As the API returns it. */
  askedAt: string
}

/** The state of the writes of a task, all together. */
export interface TaskWriteBack {
  state: 'pending' | 'done' | 'dropped' | 'failed'
  error: { code: string; message: string } | null
  /** While a failed attempt is to be repeated. */
  nextAttemptAt?: string
}

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
    source: text('source', {
      enum: ['api', 'codehost', 'analytics', 'dashboard', 'assistant', 'webhook'],
    }).notNull(),
    /** Only of tasks from a source. No foreign key: the tasks outlive it. */
    sourceId: uuid('source_id'),
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
    /** Who opened the issue or pull request. */
    authorName: text('author_name'),
    authorUrl: text('author_url'),
    /** Null unless a pull request. */
    isDraft: boolean('is_draft'),
    /** The host's `updated_at` as last stored; null in rows from before it was stored. */
    hostUpdatedAt: timestamptz('host_updated_at'),
    notes: text('notes'),
    metadata: jsonb('metadata').$type<Record<string, unknown>>().notNull(),
    createdByType: actorType('created_by_type').notNull(),
    createdById: uuid('created_by_id'),
    createdByName: text('created_by_name').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    /** The default is for instances of an earlier version, which insert without it. */
    openedAt: timestamptz('opened_at').notNull().default(sql`now()`),
    updatedAt: timestamptz('updated_at').notNull(),
    completedAt: timestamptz('completed_at'),
    deletedAt: timestamptz('deleted_at'),
    version: integer('version').notNull(),
    /** Changes no version: a comment is not a change of its task. */
    commentCount: integer('comment_count').notNull().default(0),
    /** A report of another task of the project. No foreign key: a task with reports can't be deleted. */
    mergedInto: uuid('merged_into'),
    /** While merged: the status that it would have otherwise; a sync changes this one. */
    statusBeforeMerge: text('status_before_merge', { enum: ['open', 'in_progress', 'done'] }),
    /** Of the same project. No foreign keys: those that are gone count as done. */
    blockedBy: uuid('blocked_by').array().notNull().default([]),
    /** The tasks merged into it that are not deleted. Changes no version, as above. */
    reportCount: integer('report_count').notNull().default(0),
    /** Of feedback: the same for equal notes. Null in rows from before it was stored. */
    noteKey: text('note_key'),
    /** What is to be written to the code host, or could not be; null if there never was anything. Changes no version. */
    writeBack: jsonb('write_back').$type<TaskWriteBack>(),
    /** The last claim; each claim of the task has the next number. */
    claimNumber: integer('claim_number').notNull().default(0),
    /** When its lease ends, by the clock of the database. Null, as are the next three, if the task is not claimed. */
    claimExpiresAt: timestamptz('claim_expires_at'),
    claimedByType: actorType('claimed_by_type'),
    claimedById: uuid('claimed_by_id'),
    claimedByName: text('claimed_by_name'),
    /** Whether somebody has decided about it. Of a task that is done, what holds once it is reopened or unmerged. */
    triaged: boolean('triaged').notNull().default(true),
    snoozedUntil: timestamptz('snoozed_until'),
    /** What has to be answered before work on it can begin. */
    question: jsonb('question').$type<TaskQuestion>(),
  },
  (table) => [
    foreignKey({
      name: 'tasks_list_in_project',
      columns: [table.listId, table.projectId],
      foreignColumns: [lists.id, lists.projectId],
    }),
    // What each costs a write is in docs/experiments.md. All are scanned in both directions.
    // `sort=openedAt`, `openedSince`.
    index('tasks_opened').on(table.openedAt, table.id).where(isNull(table.deletedAt)),
    // `sort=updatedAt`, `updatedSince`.
    index('tasks_updated').on(table.updatedAt, table.id).where(isNull(table.deletedAt)),
    // `sort=-priority`.
    index('tasks_priority').on(table.priority, table.id).where(isNull(table.deletedAt)),
    // `projectId`, sorted by creation; whether a project has tasks.
    index('tasks_project_created').on(table.projectId, table.id).where(isNull(table.deletedAt)),
    // `projectId` and `sort=openedAt`.
    index('tasks_project_opened')
      .on(table.projectId, table.openedAt, table.id)
      .where(isNull(table.deletedAt)),
    // `projectId` and `sort=updatedAt`.
    index('tasks_project_updated')
      .on(table.projectId, table.updatedAt, table.id)
      .where(isNull(table.deletedAt)),
    // `projectId` and `sort=-priority`.
    index('tasks_project_priority')
      .on(table.projectId, table.priority, table.id)
      .where(isNull(table.deletedAt)),
    // `listId`, sorted by creation. Includes deleted tasks: deleting a list checks this foreign key, in 264 ms without the
    // index at 600,000 tasks and 0.8 ms with.
    index('tasks_list_created').on(table.listId, table.id),
    // `listId` and `sort=openedAt`.
    index('tasks_list_opened').on(table.listId, table.openedAt, table.id).where(isNull(table.deletedAt)),
    // `listId` and `sort=updatedAt`.
    index('tasks_list_updated').on(table.listId, table.updatedAt, table.id).where(isNull(table.deletedAt)),
    // `listId` and `sort=-priority`.
    index('tasks_list_priority').on(table.listId, table.priority, table.id).where(isNull(table.deletedAt)),
    // `listId` and `status`; counts of tasks in progress.
    index('tasks_list_status').on(table.listId, table.status, table.id).where(isNull(table.deletedAt)),
    // The next task to claim. Only open tasks that are not snoozed are in this index and the next.
    index('tasks_ready')
      .on(table.priority.desc().nullsFirst(), table.id)
      .where(sql`${table.status} = 'open' and ${table.deletedAt} is null and ${table.snoozedUntil} is null`),
    // The same in a project or a list.
    index('tasks_project_ready')
      .on(table.projectId, table.priority.desc().nullsFirst(), table.id)
      .where(sql`${table.status} = 'open' and ${table.deletedAt} is null and ${table.snoozedUntil} is null`),
    // `claimed`, and claims whose lease is over. Only claimed tasks are in this index.
    index('tasks_claims').on(table.claimExpiresAt).where(isNotNull(table.claimExpiresAt)),
    // `triaged=false`, sorted by creation. Only tasks to triage are in this index and the next.
    index('tasks_to_triage')
      .on(table.id)
      .where(sql`not ${table.triaged} and ${table.status} <> 'done' and ${table.deletedAt} is null`),
    // The same in a project.
    index('tasks_project_to_triage')
      .on(table.projectId, table.id)
      .where(sql`not ${table.triaged} and ${table.status} <> 'done' and ${table.deletedAt} is null`),
    // `snoozed`, and tasks to wake. Only snoozed tasks are in this index.
    index('tasks_snoozed').on(table.snoozedUntil).where(isNotNull(table.snoozedUntil)),
    // `needsAnswer`. Only tasks with a question are in this index.
    index('tasks_questions').on(table.id).where(isNotNull(table.question)),
    // `label`, ignoring case: rare labels are found here, frequent ones by scanning in sort order.
    index('tasks_labels')
      .using('gin', sql`lower_names(${table.labels})`)
      .with({ gin_pending_list_limit: 256 })
      .where(sql`${table.labels} <> '{}' and ${table.deletedAt} is null`),
    // The reports of a task. Only merged tasks are in this index, and only their targets in the next three.
    index('tasks_merged')
      .on(table.mergedInto, table.id)
      .where(sql`${table.mergedInto} is not null and ${table.deletedAt} is null`),
    // The oldest open feedback with a note. Only feedback is in this index.
    index('tasks_notes')
      .on(table.projectId, table.noteKey, table.id)
      .where(sql`${table.noteKey} is not null and ${table.status} <> 'done' and ${table.deletedAt} is null`),
    // `sort=-reports`: tasks without reports follow in the order of creation.
    index('tasks_reports')
      .on(table.reportCount, table.id)
      .where(sql`${table.reportCount} > 0 and ${table.deletedAt} is null`),
    // `projectId` and `sort=-reports`.
    index('tasks_project_reports')
      .on(table.projectId, table.reportCount, table.id)
      .where(sql`${table.reportCount} > 0 and ${table.deletedAt} is null`),
    // `listId` and `sort=-reports`.
    index('tasks_list_reports')
      .on(table.listId, table.reportCount, table.id)
      .where(sql`${table.reportCount} > 0 and ${table.deletedAt} is null`),
    // `assignee`, in the same way.
    index('tasks_assignees')
      .using('gin', sql`lower_names(${table.assignees})`)
      .with({ gin_pending_list_limit: 256 })
      .where(sql`${table.assignees} <> '{}' and ${table.deletedAt} is null`),
    // `codehostIssueNumber`, `codehostPrNumber`, `kind`, and `q=#12`, in all projects; only tasks that have a number.
    index('tasks_codehost_number').on(table.codehostNumber).where(isNotNull(table.codehostNumber)),
    // `deleted=true`, and the purge. Only deleted tasks are in this index and the next.
    index('tasks_trash').on(table.deletedAt, table.id).where(isNotNull(table.deletedAt)),
    // `deleted=true` and `projectId`; emptying the trash of a project.
    index('tasks_project_trash')
      .on(table.projectId, table.deletedAt, table.id)
      .where(isNotNull(table.deletedAt)),
    // `externalId` is unique among what is not deleted. It comes first, so that it is found in all projects, too. The
    // migration makes null equal null, which drizzle cannot say.
    uniqueIndex('tasks_external')
      .on(table.externalId, table.projectId, table.source, table.sourceId)
      .where(sql`${table.deletedAt} is null and ${table.externalId} is not null`),
    // An issue or pull request has one task. Includes deleted tasks: a sync does not recreate what was deleted here.
    uniqueIndex('tasks_codehost')
      .on(table.projectId, table.codehostRepositoryId, table.codehostNumber)
      .where(isNotNull(table.codehostNumber)),
    check('tasks_priority_range', sql`${table.priority} between 1 and 3`),
    check('tasks_completed_when_done', sql`(${table.status} = 'done') = (${table.completedAt} is not null)`),
  ],
)
